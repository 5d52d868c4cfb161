"""
One stream, several models
==========================

The same stream is learned by the default model, by two single algorithms of parsimon, and by models
of scikit-learn that learn online. Each row is predicted before it is learned.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import SGDRegressor

from parsimon import KNLMSRegressor, KRLSRegressor, MixtureRegressor
from parsimon.evaluation import predict_then_learn

rng = np.random.default_rng(0)
X = rng.normal(size=(3000, 5))
y = np.sin(2 * X[:, 0]) * X[:, 1] + 0.5 * X[:, 2] + 0.1 * rng.normal(size=3000)

# %%
# Random features with a linear model are the usual way to learn nonlinear functions online with
# scikit-learn. All kernels here have the same width.
features = RBFSampler(gamma=0.2, n_components=300, random_state=0).fit(X)
streams = {
    "linear (SGDRegressor)": (SGDRegressor(random_state=0), X),
    "random features (RBFSampler)": (
        SGDRegressor(learning_rate="constant", eta0=0.2, random_state=0),
        features.transform(X),
    ),
    "KNLMSRegressor": (KNLMSRegressor("gaussian", gamma=0.2, coherence=0.8, step_size=0.5), X),
    "KRLSRegressor": (KRLSRegressor("gaussian", gamma=0.2), X),
    "MixtureRegressor": (MixtureRegressor(), X),
}
figure, ax = plt.subplots(figsize=(7.5, 4))
window = np.ones(200) / 200
for name, (model, inputs) in streams.items():
    if isinstance(model, SGDRegressor):  # it predicts blocks, and learns them afterwards
        model.partial_fit(inputs[:1], y[:1])
        blocks = np.array_split(np.arange(3000), 300)
        predicted = np.empty(3000)
        for rows in blocks:
            predicted[rows] = model.predict(inputs[rows])
            model.partial_fit(inputs[rows], y[rows])
    else:
        predicted = predict_then_learn(model, inputs, y).values
    error = np.convolve((y - predicted) ** 2, window, "valid") / y.var()
    ax.plot(np.arange(200, 3001), error, label=f"{name}: {error[-1]:.3f}")
ax.set(xlabel="rows", ylabel="relative squared error", yscale="log")
ax.legend(title="error over the last 200 rows", loc="center left", bbox_to_anchor=(1, 0.5))

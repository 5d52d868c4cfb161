"""Learning from tables: encoder, target scaler and estimator as one model.

The model needs only the name of the target.

>>> import numpy as np
>>> rng = np.random.default_rng(0)
>>> size, shop = rng.uniform(size=2000), rng.choice(["town", "village"], size=2000)
>>> price = 1e5 * np.where(shop == "town", np.sin(6 * size), size)
>>> model = TableModel("price")
>>> predictions = model.learn({"size": size, "shop": shop, "price": price})
>>> model.task_, bool(model.metrics_.rolling()["r2"] > 0.95)
('regression', True)
>>> bool(abs(model.predict({"size": [0.5], "shop": ["village"]})[0] - 5e4) < 1e4)
True

**The default for classification** is a `MixtureClassifier` of two `POLKClassifier` with logistic
loss and Laplacian kernels. One has a wide kernel and a large step size (eta = 2), the other has a
narrow kernel and a small step size (eta = 0.5). Each has at most 300 centres. **The default for
regression** is `KRLSRegressor` with a Laplacian kernel and at most 400 centres. With its forgetting
factor of 0.9995, the weight of a row falls to about a third in 2000 rows. Kernel widths come from
the median distance of the encoded rows of the warm-up. ``benchmarks/streams.py`` compares these
defaults with other models.

- `model`: the model of a table;
- `targets`: the task that a target column means, and its values as numbers or labels;
- `algorithms`: estimators by name;
- `stored`: the parts of a model in a file.
"""

from parsimon.mixtures import MixtureClassifier
from parsimon.tables.algorithms import ALGORITHMS, make_estimator
from parsimon.tables.model import TableModel
from parsimon.tables.targets import TASKS

__all__ = ["ALGORITHMS", "TASKS", "MixtureClassifier", "TableModel", "make_estimator"]

"""Small workloads through Python, for compare.py: prints {name: seconds, the best of some} as JSON.

Uses nothing but the installed package.
"""

import json
import time

import numpy as np
import sklearn.base  # noqa: F401

numpy_there = time.perf_counter()
import parsimon  # noqa: E402

TAKEN = {"import parsimon": time.perf_counter() - numpy_there}


def best(name, function, units, rounds=5):
    times = []
    for _ in range(rounds):
        begin = time.process_time()
        function()
        times.append(time.process_time() - begin)
    TAKEN[name] = min(times) / units


rng = np.random.default_rng(0)
X = rng.normal(size=(2000, 10))
y = np.sin(X[:, 0])
rows, targets, labels = list(X), y.tolist(), (y > 0).tolist()
knlms = parsimon.published(parsimon.KNLMSRegressor, gamma=0.1, coherence=0.5).fit(X, y)
polk = parsimon.published(
    parsimon.POLKClassifier, gamma=0.1, batch_size=32, budget=100
).partial_fit(X, y > 0)
best(
    "KNLMS learn_one",
    lambda: [knlms.learn_one(x, t) for x, t in zip(rows, targets, strict=True)],
    len(X),
)
best("KNLMS predict_one", lambda: [knlms.predict_one(x) for x in rows], len(X))
best(
    "KNLMS partial_fit, blocks of 20",
    lambda: [knlms.partial_fit(X[i : i + 20], y[i : i + 20]) for i in range(0, 2000, 20)],
    2000,
)
best(
    "POLK classifier learn_one",
    lambda: [polk.learn_one(x, t) for x, t in zip(rows[:500], labels, strict=False)],
    500,
)
best("POLK classifier predict", lambda: polk.predict(X), len(X))
print(json.dumps(TAKEN))

"""Learning in shards: each shard is learned separately, and the models are merged.

>>> import numpy as np
>>> from parsimon import POLKClassifier, distributed
>>> from parsimon.datasets import make_multidist
>>> X, y = make_multidist(4000, random_state=0)
>>> shards = [(X[i::4], y[i::4]) for i in range(4)]
>>> model = POLKClassifier(gamma=1.4, step_size=3.0, budget=60)
>>> result = distributed.fit(model, shards, rounds=4, progress=False)
>>> result.model.n_samples_seen_, result.rounds, bool(result.model.score(X, y) > 0.6)
(4000, 4, True)

The engines are "joblib" (the default: processes on this machine), "dask" and "spark". Models are
sent as model files, never as code.
"""

from parsimon.distributed.rounds import Result, fit

__all__ = ["Result", "fit"]

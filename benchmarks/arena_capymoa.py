"""Run one learner of CapyMOA over a stream, as StreamArena's harness does.

`arena_peers.py` runs it, with a Python that has CapyMOA:

    python arena_capymoa.py LEARNER STREAM.npz RESULT.npz

STREAM.npz holds X, y and whether the task is classification. RESULT.npz gets the predictions, or
the probabilities, made before each row, and the seconds.
"""

import sys
import time

import numpy as np
from capymoa import __version__
from capymoa.classifier import AdaptiveRandomForestClassifier, StreamingRandomPatches
from capymoa.regressor import SOKNL, AdaptiveRandomForestRegressor
from capymoa.stream import NumpyStream

LEARNERS = {
    "ARF": (AdaptiveRandomForestClassifier, AdaptiveRandomForestRegressor),
    "SRP": (StreamingRandomPatches, None),
    "SOKNL": (None, SOKNL),
}


def probabilities(votes, n_classes):
    found = np.zeros(n_classes)
    if votes is not None and len(votes) > 0:
        votes = np.clip(np.nan_to_num(np.asarray(votes, dtype=float)), 0.0, None)
        found[: len(votes)] = votes[:n_classes]
    total = found.sum()
    return found / total if total > 0 else np.full(n_classes, 1.0 / n_classes)


def main(name, source, result):
    with np.load(source) as stored:
        X, y, classes = stored["X"], stored["y"], bool(stored["classes"])
    kind = "categorical" if classes else "numeric"
    stream = NumpyStream(X, y, target_type=kind)
    schema = stream.get_schema()
    learner = LEARNERS[name][0 if classes else 1](schema=schema, random_seed=1)
    found = []
    start = time.perf_counter(), time.process_time()
    while stream.has_more_instances():
        instance = stream.next_instance()
        if classes:
            votes = learner.predict_proba(instance)
            found.append(probabilities(votes, schema.get_num_classes()))
        else:
            value = learner.predict(instance)
            found.append(0.0 if value is None else float(value))
        learner.train(instance)
    wall, cpu = time.perf_counter() - start[0], time.process_time() - start[1]
    np.savez(result, found=np.array(found), wall=wall, cpu=cpu, version=__version__)


if __name__ == "__main__":
    main(*sys.argv[1:])

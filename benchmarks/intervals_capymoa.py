"""Run AdaPI of CapyMOA over a stream.

`intervals.py` runs it, with a Python that has CapyMOA:

    python intervals_capymoa.py STREAM.npz RESULT.npz

STREAM.npz holds X and y. RESULT.npz gets the intervals made before each row, (n, 2).
"""

import sys

import numpy as np
from capymoa.regressor import SOKNL
from capymoa.stream import NumpyStream
from capymoa.uncertainty import AdaPI


def main(source, result):
    with np.load(source) as stored:
        X, y = stored["X"], stored["y"]
    stream = NumpyStream(X, y, target_type="numeric")
    schema = stream.get_schema()
    learner = AdaPI(schema=schema, base_learner=SOKNL(schema=schema), confidence_level=0.9)
    found = []
    while stream.has_more_instances():
        instance = stream.next_instance()
        interval = learner.predict(instance)
        given = interval if interval is not None and len(interval) >= 3 else (-np.inf, 0.0, np.inf)
        found.append((float(given[0]), float(given[-1])))
        learner.train(instance)
    np.savez(result, intervals=np.array(found))


if __name__ == "__main__":
    main(*sys.argv[1:])

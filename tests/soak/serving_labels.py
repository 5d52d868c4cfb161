"""10,000 predictions whose labels come in random order, after up to 1000 other predictions.

The model equals, byte for byte, one that learned the rows in the order of the labels.
"""

import random
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from serving import example_rows, learned_from, served

from parsimon import TableModel

PREDICTIONS, BLOCK, LATEST = 10_000, 50, 1000


def main():
    rows, rng, began = example_rows(PREDICTIONS), random.Random(0), time.time()
    due, order = {}, []
    with tempfile.TemporaryDirectory() as folder, served(folder, target="y") as (client, _):
        first = example_rows(20, seed=1)
        client.learn(first)
        for at in range(0, PREDICTIONS + LATEST + BLOCK, BLOCK):
            block = rows[at : at + BLOCK]
            if block:
                asked = [{k: v for k, v in row.items() if k != "y"} for row in block]
                for found, row in zip(client.predict(asked), block, strict=True):
                    when = at + rng.randrange(LATEST) + 1
                    due.setdefault(when // BLOCK + 1, []).append((found["id"], row))
            now = due.pop(at // BLOCK, [])
            rng.shuffle(now)
            if now:
                client.label({each: row["y"] for each, row in now})
                order += [row for _, row in now]
        assert not due and len(order) == PREDICTIONS and client.state()["pending"] == 0
        data = client.download()
    assert data == learned_from([first, *([row] for row in order)], TableModel("y"))
    print(f"{PREDICTIONS} labels in random order in {time.time() - began:.0f} s: the same model")


if __name__ == "__main__":
    main()

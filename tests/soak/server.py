"""``parsimon serve`` under load from four clients, killed 200 times at random moments.

Afterwards every acknowledged row was learned exactly once, and the model equals, byte for byte, one
that learned the log in order. `--kills` and `--seed` change the run.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from crash import kill_often


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    began = time.time()
    with tempfile.TemporaryDirectory() as folder:
        report = kill_often(Path(folder), given.kills, given.seed)
    print(f"{report} in {time.time() - began:.0f} s: nothing lost")


if __name__ == "__main__":
    main()

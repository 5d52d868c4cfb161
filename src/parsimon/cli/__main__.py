"""``python -m parsimon.cli`` is the command ``parsimon``."""

import sys

from parsimon.cli import main

if __name__ == "__main__":
    sys.exit(main())

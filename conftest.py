"""Modules that need what is not installed are not collected."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("river") else ["src/parsimon/river.py"]

"""Signals: how filters track a system that switches in the middle of the stream.

- `filters`: the table of filters;
- `tracking`: curves, table and figure of all filters on one stream;
- `identification`, `equalisation` and `echo`: the streams;
- `prediction`: error against size on chaotic series.
"""

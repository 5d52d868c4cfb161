"""Model files: data, never code.

A file is in the safetensors format. It holds arrays, and one JSON text that says what they are:
format version, estimator, parameters, kernel, classes and counters. A digest covers the whole file.
A file is written completely or not at all. A model that was stored and loaded continues learning
bit for bit as if it had never stopped (same build, same processor).

The digest detects damage. It does not authenticate a file, because anyone who writes a file can
compute its digest. So the contents are checked even when the digest is right: sizes before memory
is allocated, types and numbers before they are used. A state that learning could not have produced
is rejected. Loading takes at most 16 times the size of the file plus 64 MiB. Memory for the rest of
the budget is reserved at the next sample.

- `files`: save, load, and the header of a file;
- `values`: values as JSON and arrays;
- `tensors`: arrays and metadata as bytes in the safetensors format;
- `models`: which classes can be stored, and the checks of their states;
- `storable`: the base class of models that can be stored.
"""

from parsimon.persistence.files import FORMAT, ModelFileError, dumps, load, loads, save
from parsimon.persistence.storable import Storable as Storable

__all__ = ["FORMAT", "ModelFileError", "dumps", "load", "loads", "save"]

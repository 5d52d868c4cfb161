"""The base class of models that can be stored."""

from __future__ import annotations

import os
from typing import Any, ClassVar

from parsimon import _schema
from parsimon.persistence.files import save

__all__ = ["Storable"]


class Storable:
    """A model that can be stored in a file. Its class has a line in `parsimon._homes`."""

    #: The attributes that a file may hold besides the parameters.
    _attributes: ClassVar[_schema.Schema] = _schema.Schema({}, {})

    @staticmethod
    def _other_parameters(value: Any) -> bool:
        """Return whether a parameter may have this value, which is neither plain nor a part."""
        return False

    def _require_sound(self) -> None:
        """Raise an error if learning could not have produced this model. Called after loading."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file that `parsimon.load` reads.

        The file holds data, never code. It is written completely or not at all.
        """
        save(self, path)

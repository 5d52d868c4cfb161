"""Models as C headers.

- `tables`: numbers, labels and constant tables;
- `identifiers`: names of columns as names of C;
- `piece`: parts of a header, and library functions;
- `expressions`: formulas as statements;
- `functions`: f, predictions and probabilities of one expansion;
- `combination`: the same of several;
- `lags`: earlier targets as inputs;
- `outer`: functions around these, with lags and targets in their own units;
- `table`: rows of columns, and their encoding;
- `header`: the whole text.
"""

from __future__ import annotations

import os
import re
from typing import Any

from parsimon._files import write_whole
from parsimon._parts import lookup
from parsimon.export.c.header import header
from parsimon.export.c.identifiers import KEYWORDS
from parsimon.export.c.tables import TYPES
from parsimon.export.model_functions import model_function
from parsimon.export.table import table
from parsimon.tables import TableModel

__all__ = ["to_c"]


def to_c(
    model: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    name: str = "model",
    dtype: str = "double",
) -> str:
    """Return a fitted model as a C header without dependencies. Write it to `path` if given.

    With the name "model" and the type `double` the header defines:

    - MODEL_N_FEATURES, MODEL_N_OUTPUTS, MODEL_N_CENTERS;
    - ``void model_decision(const double x[], double out[])``: f, one value per output or class;
    - ``double model_predict(const double x[])`` for a regressor with one output, ``void
      model_predict(const double x[], double out[])`` with several. The result is f, or the mean if
      the loss has a link;
    - ``int model_predict(const double x[])`` for a classifier: the index of the class in
      ``model_classes[]``. In a tie, it is the first of these classes. The table holds strings,
      integers (booleans are 0 and 1) or numbers;
    - ``void model_proba(const double x[], double out[])`` if the model has probabilities.

    A mixture has ``model_predict`` and ``model_proba``, but no ``model_decision``. The functions of
    `MixtureRegressor` and `MixtureClassifier` have a second argument ``const model_lags *lags``,
    also for a table. It is a struct of the targets of the rows before, in their own units or as
    labels. ``lag_1`` is the latest, and with several outputs ``lag_1_2`` is output 2 of it. If a
    lag is NaN or an unknown label, the target that `predict` uses takes its place: for ``lag_1``
    the last target learned, for ``lag_2`` the one before that, and so on. NULL in place of the
    struct means that no lag is known.

    The header of a `TableModel` defines the struct ``model_row`` with a field for each column, and
    the function ``model_predict(const model_row *row)``. For classes it also defines
    ``model_proba`` or ``model_decision``. Fields of numbers are double, and NaN means missing.
    Times are seconds, as in `parsimon.preprocessing`. Fields of text are ``const char *`` in UTF-8,
    and NULL means missing. The functions encode the row. A predicted target is a double in its own
    units.

    All functions are ``static inline`` and all tables constant. Nothing is allocated. The stack
    holds at most one array of C numbers. For a mixture it holds one such array per expert and the
    inputs of experts, and for a table also the features. The header is C99 and also C++11.

    From the C library the header needs at most exp, sqrt and log1p, depending on the kernel and the
    probabilities. Mixtures of classes also need log. Tables with columns of times also need fmod,
    sin and cos. Macros such as MODEL_EXP can replace these functions. Linear, polynomial and Cauchy
    kernels need none of them. Neither do rational quadratic kernels with a whole alpha up to 64.
    Numbers have the fewest decimal digits that represent them exactly. Hexadecimal numbers would
    need C++17.

    The functions do not check for NaN and infinity, which `predict` rejects. A kernel in
    `SinglePrecision` rounds its inputs, but these functions do not. This changes f by a relative
    error of about 1e-7.

    Parameters
    ----------
    model : estimator, mixture, Pipeline, TransformedTargetRegressor or TableModel
        A fitted model of parsimon, or one with scalers. See `docs/export.md`.
    path : str or path, default=None
        The file to write. It is written completely or not at all.
    name : str, default="model"
        The prefix of every name in the header. It begins with a letter and has at most 40
        characters: letters, digits, and single underscores between them. Names of macros have it in
        capitals.
    dtype : "double" or "float", default="double"
        The type of inputs, outputs, tables and all intermediate values. Columns and targets of a
        `TableModel`, and earlier targets, are always double.

    Examples
    --------
    >>> from parsimon import KNLMSRegressor
    >>> from parsimon.export import to_c
    >>> model = KNLMSRegressor("linear", fit_intercept=False).partial_fit([[1.0, 2.0]], [0.5])
    >>> print(to_c(model, name="filter").partition("N_OUTPUTS])")[2])
    {
        for (int c = 0; c < FILTER_N_OUTPUTS; ++c) out[c] = 0.0;
        for (int j = 0; j < FILTER_N_CENTERS; ++j) {
            double product = 0.0;
            for (int i = 0; i < FILTER_N_FEATURES; ++i) {
                const double z = x[i];
                const double d = filter_centers[j][i];
                product += z * d;
            }
            for (int c = 0; c < FILTER_N_OUTPUTS; ++c) out[c] += filter_weights[j][c] * product;
        }
    }
    <BLANKLINE>
    static inline double filter_predict(const double x[FILTER_N_FEATURES])
    {
        double out[FILTER_N_OUTPUTS];
        filter_decision(x, out);
        return out[0];
    }
    <BLANKLINE>
    #endif
    """
    if (
        not isinstance(name, str)
        or not re.fullmatch(r"[A-Za-z](_?[A-Za-z0-9])*", name)
        or len(name) > 40
    ):
        raise ValueError(
            "name must be letters, digits and single underscores between them, a letter first, "
            f"at most 40, got {name!r}"
        )
    if re.fullmatch(KEYWORDS, name):
        raise ValueError(f"name is {name!r}, which is a keyword of C")
    lookup(TYPES, dtype, "dtype")
    source = table(model) if isinstance(model, TableModel) else model_function(model)
    text = header(source, name, dtype)
    if path is not None:
        write_whole(path, text.encode("ascii"))
    return text

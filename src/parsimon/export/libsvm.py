"""Models as LIBSVM model files."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from parsimon._files import write_whole
from parsimon.export.expansion import Array, Expansion, expansion
from parsimon.export.model_functions import MIXTURES
from parsimon.kernels import Constant, Gaussian, Kernel, Linear, Polynomial, Product, Sum
from parsimon.tables import TableModel

__all__ = ["to_libsvm"]


def to_libsvm(model: Any, path: str | os.PathLike[str] | None = None) -> str:
    """Return a fitted model as the text of a LIBSVM model file. Write it to `path` if given.

    LIBSVM supports regressors with one output (epsilon_svr), classifiers with integer labels
    (c_svc), and Gaussian ("rbf"), polynomial and linear kernels. A constant factor of a kernel goes
    into the coefficients. A constant c that is added goes into rho, as sum_j w_j c. The decision of
    LIBSVM for a pair of labels a, b is sum_j coef_j k(d_j, x) - rho. A positive decision means a.

    - Two classes: coef = w_1 - w_0, with the labels in the reverse order of `classes_`. So a
      positive decision means the second class, and a decision of zero means the first class, as in
      `predict`.
    - More classes: LIBSVM votes over pairs, and a pair uses only the support vectors of its two
      classes. So each class a has all centres as its support vectors. The coefficients are w_a
      against later classes and -w_a against earlier classes. The decision of a pair is f_a - f_b,
      and the class of the largest f wins all its pairs. The file holds each centre C times.

    Probabilities are not exported. Features are numbered from 1, and zeros are left out. A kernel
    in `SinglePrecision` rounds its inputs, but LIBSVM does not. This changes f by a relative error
    of about 1e-7.

    LIBSVM does not scale inputs. A Pipeline can be exported only if the scaling can be written into
    the model exactly: for the linear kernel, any scaling; for a polynomial kernel, a scaling that
    does not shift; for the Gaussian kernel, one common factor for all columns. In all other cases
    scale the data first, and export the last step of the Pipeline.

    Parameters
    ----------
    model : estimator, Pipeline or TransformedTargetRegressor
        A fitted estimator of parsimon, alone or with scalers. See `docs/export.md`.
    path : str or path, default=None
        The file to write. It is written completely or not at all.

    Examples
    --------

    >>> from parsimon import KNLMSRegressor
    >>> from parsimon.export import to_libsvm
    >>> model = KNLMSRegressor("linear", step_size=1.0, fit_intercept=False)
    >>> model = model.partial_fit([[0.0, 1.0], [4.0, 0.0]], [1.0, 2.0])
    >>> print(to_libsvm(model), end="")
    svm_type epsilon_svr
    kernel_type linear
    nr_class 2
    total_sv 2
    rho 0.0
    SV
    1.0 2:1.0
    0.125 1:4.0

    Reference: C.-C. Chang, C.-J. Lin, *LIBSVM: a library for support vector machines*, ACM TIST
    2011, and the README of the library.
    """
    if isinstance(model, TableModel):
        raise TypeError(
            "LIBSVM cannot encode the columns of a TableModel: use to_c or to_onnx, or export "
            "model.estimator_ and give LIBSVM the rows of model.encoder_.transform"
        )
    if isinstance(model, tuple(MIXTURES)):
        raise TypeError(
            f"LIBSVM has no mixtures, and the model is a {type(model).__name__}: "
            "use to_c or to_onnx"
        )
    e = expansion(model)
    if e.link is not None:
        raise TypeError(
            "LIBSVM has no links, and predictions of the model are a function of f: "
            "use to_c or to_onnx"
        )
    factor, leaf, constant = _terms(e.kernel)
    leaf, centers, constants = _unscaled(leaf, e)
    weights = factor * e.weights
    offset = e.offset + constant * e.weights.sum(axis=0) + constants @ weights
    if not np.isfinite(weights).all() or not np.isfinite(offset).all():
        raise ValueError("with the kernel's constants folded in, the model's numbers are too large")
    parts = (
        _regressor(weights, offset)
        if e.classes is None
        else _classifier(e.classes, weights, offset)
    )
    header, coefficients, rows = parts
    vectors = [
        [f"{i + 1}:{_number(center[i])}" for i in np.flatnonzero(center)] for center in centers
    ]
    lines = [
        f"svm_type {'epsilon_svr' if e.classes is None else 'c_svc'}",
        *_kernel(leaf),
        *header,
        "SV",
        *(
            " ".join([*map(_number, own), *vectors[j]])
            for own, j in zip(coefficients, rows, strict=True)
        ),
    ]
    text = "\n".join(lines) + "\n"
    if path is not None:
        write_whole(path, text.encode("ascii"))
    return text


Parts = tuple[list[str], Array, Any]


def _regressor(weights: Array, offset: Array) -> Parts:
    """Return the header, the coefficients (l, 1) and the centres of the support vectors, (l,)."""
    if weights.shape[1] > 1:
        raise TypeError(
            f"LIBSVM has no regressor of several outputs, and the model has {weights.shape[1]}"
        )
    rows = np.flatnonzero(weights[:, 0])
    return (
        ["nr_class 2", f"total_sv {len(rows)}", f"rho {_number(-offset[0])}"],
        weights[rows],
        rows,
    )


def _classifier(labels: tuple[Any, ...], weights: Array, offset: Array) -> Parts:
    """Return the header, the coefficients (l, C - 1) and the centres of the support vectors, (l,).

    Support vectors are sorted by class.
    """
    C = len(labels)
    if any(type(label) is not int or not -(2**31) <= label < 2**31 for label in labels):
        raise TypeError(
            "LIBSVM has integer labels only, of 32 bits, "
            f"and the model has {list(labels)!r}: learn from integers"
        )
    if C < 2:
        raise TypeError(f"LIBSVM needs two classes, and the model knows only {labels[0]}")
    # Reversed, because a decision of zero means the later class of a pair in LIBSVM, and the
    # earlier one in parsimon.
    labels, weights, offset = labels[::-1], weights[:, ::-1], offset[::-1]
    pairs = [(a, b) for a in range(C) for b in range(a + 1, C)]
    if C == 2:  # as in LIBSVM, positive coefficients belong to the first class
        difference = weights[:, 0] - weights[:, 1]
        members = [np.flatnonzero(difference > 0), np.flatnonzero(difference < 0)]
        coefficients = [difference[rows, np.newaxis] for rows in members]
    else:
        members = [np.flatnonzero(column) for column in weights.T]
        # Entry i is for the i-th other class.
        against = [np.where(np.arange(C - 1) < a, -1.0, 1.0) for a in range(C)]
        coefficients = [weights[rows, a, np.newaxis] * against[a] for a, rows in enumerate(members)]
    header = [
        f"nr_class {C}",
        f"total_sv {sum(map(len, members))}",
        "rho " + " ".join(_number(offset[b] - offset[a]) for a, b in pairs),
        "label " + " ".join(map(str, labels)),
        "nr_sv " + " ".join(str(len(rows)) for rows in members),
    ]
    return header, np.concatenate(coefficients), np.concatenate(members)


def _terms(kernel: Kernel) -> tuple[float, Kernel | None, float]:
    """Return a kernel as factor * leaf + constant. The leaf is a kernel of LIBSVM, or None."""
    match kernel:
        case Gaussian() | Polynomial() | Linear():
            return 1.0, kernel, 0.0
        case Constant(value):
            return 0.0, None, float(value)
        case Sum(left, right):
            a, b = _terms(left), _terms(right)
            if a[1] is None or b[1] is None:
                return a[0] + b[0], a[1] or b[1], a[2] + b[2]
        case Product(left, right):
            a, b = _terms(left), _terms(right)
            if a[1] is None or b[1] is None:
                a, b = (a, b) if b[1] is None else (b, a)
                return a[0] * b[2], a[1], a[2] * b[2]
    raise TypeError(
        "LIBSVM has the kernels Gaussian, Polynomial and Linear, times a constant and plus one, "
        f"and the model has {kernel!r}"
    )


def _unscaled(leaf: Kernel | None, e: Expansion) -> tuple[Kernel | None, Array, Array]:
    """Return a kernel k', centres d' (m, d) and constants c (m,) for inputs x before scaling.

    They satisfy k(d_j, z) = k'(d'_j, x) + c_j.
    """
    none = np.zeros(e.n_centers)
    if not e.scaled:
        return leaf, e.centers, none
    match leaf:
        case None:
            return leaf, e.centers, none
        case Linear():
            centers = e.centers * e.scale
            return leaf, centers, -centers @ e.shift
        case Polynomial() if not e.shift.any():
            return leaf, e.centers * e.scale, none
        case Gaussian(gamma) if (e.scale == e.scale[0]).all():
            with np.errstate(all="ignore"):
                folded, centers = float(gamma * e.scale[0] ** 2), e.centers / e.scale + e.shift
            if not np.finfo(np.float64).tiny <= folded < np.inf or not np.isfinite(centers).all():
                raise ValueError(
                    f"with the scaling folded in, gamma would be {folded}: "
                    "scale the columns to a sensible size before"
                )
            return Gaussian(folded), centers, none
    raise TypeError(
        "LIBSVM cannot scale inputs, and the scaling of this pipeline cannot be folded into "
        f"{leaf!r}: scale the data before LIBSVM sees it, and export the last step"
    )


def _kernel(leaf: Kernel | None) -> list[str]:
    match leaf:
        case Gaussian(gamma):
            return ["kernel_type rbf", f"gamma {_number(gamma)}"]
        case Polynomial(degree, gamma, offset):
            return [
                "kernel_type polynomial",
                f"degree {degree}",
                f"gamma {_number(gamma)}",
                f"coef0 {_number(offset)}",
            ]
    # Also if only a constant is left: then there are no support vectors.
    return ["kernel_type linear"]


def _number(value: float) -> str:
    """Return a number with the fewest digits that represent it exactly."""
    return repr(float(value) + 0.0)  # + 0.0 turns -0.0 into 0.0

"""Kernels as dense NumPy formulas, beside the objects they specify."""

import numpy as np

from parsimon import formulas, kernels


def squares(X, Y):
    return ((X[:, None, :] - Y[None, :, :]) ** 2).sum(axis=-1)


def normalize(formula):
    def value(X, Y):
        return formula(X, Y) / np.sqrt(np.outer(np.diag(formula(X, X)), np.diag(formula(Y, Y))))

    return value


def gaussian(g):
    return lambda X, Y: np.exp(-g * squares(X, Y))


def laplacian(g):
    return lambda X, Y: np.exp(-g * np.abs(X[:, None] - Y[None]).sum(axis=-1))


def matern32(g):
    def value(X, Y):
        z = np.sqrt(6 * g * squares(X, Y))
        return (1 + z) * np.exp(-z)

    return value


def matern52(g):
    def value(X, Y):
        z = np.sqrt(10 * g * squares(X, Y))
        return (1 + z + z**2 / 3) * np.exp(-z)

    return value


def polynomial(g, c, p):
    return lambda X, Y: (g * (X[:, None] * Y[None]).sum(axis=-1) + c) ** p


def single(formula):
    return lambda X, Y: formula(
        *(points.astype(np.float32).astype(np.float64) for points in (X, Y))
    )


#: name in `kernels.KERNELS`: (object, formula). A kernel that is registered must be here.
REGISTERED = {
    "gaussian": (kernels.Gaussian(0.7), gaussian(0.7)),
    "laplacian": (kernels.Laplacian(0.4), laplacian(0.4)),
    "matern32": (kernels.Matern32(0.5), matern32(0.5)),
    "matern52": (kernels.Matern52(0.5), matern52(0.5)),
    "rational_quadratic": (
        kernels.RationalQuadratic(0.8, alpha=1.7),
        lambda X, Y: (1 + 0.8 * squares(X, Y) / 1.7) ** -1.7,
    ),
    "cauchy": (kernels.Cauchy(0.9), lambda X, Y: 1 / (1 + 0.9 * squares(X, Y))),
    "polynomial": (kernels.Polynomial(4, gamma=0.3, offset=1.0), polynomial(0.3, 1.0, 4)),
    "linear": (kernels.Linear(), polynomial(1.0, 0.0, 1)),
}
#: Every generic test of a kernel runs over all of these.
KERNELS = {
    **REGISTERED,
    "constant": (kernels.Gaussian(0.7) + 0.3, lambda X, Y: gaussian(0.7)(X, Y) + 0.3),
    "sum": (
        kernels.Gaussian(0.2) + kernels.Laplacian(0.5),
        lambda X, Y: gaussian(0.2)(X, Y) + laplacian(0.5)(X, Y),
    ),
    "product": (
        kernels.Matern32(0.2) * kernels.Polynomial(2),
        lambda X, Y: matern32(0.2)(X, Y) * polynomial(1.0, 1.0, 2)(X, Y),
    ),
    "normalized": (
        kernels.Normalized(kernels.Polynomial(3, gamma=0.5)),
        normalize(polynomial(0.5, 1.0, 3)),
    ),
    "nested": (
        kernels.Normalized(kernels.Normalized(kernels.Polynomial(2)) + 0.5 * kernels.Polynomial(3))
        * kernels.Gaussian(0.1),
        lambda X, Y: (
            normalize(
                lambda A, B: (
                    normalize(polynomial(1.0, 1.0, 2))(A, B) + 0.5 * polynomial(1.0, 1.0, 3)(A, B)
                )
            )(X, Y)
            * gaussian(0.1)(X, Y)
        ),
    ),
    "single": (
        kernels.SinglePrecision(kernels.Matern52(0.5) + kernels.Normalized(kernels.Polynomial(2))),
        single(lambda X, Y: matern52(0.5)(X, Y) + normalize(polynomial(1.0, 1.0, 2))(X, Y)),
    ),
    "function": (
        kernels.Function(lambda x, y: float(np.exp(-0.7 * ((x - y) ** 2).sum()))),
        gaussian(0.7),
    ),
}
FAST = {name: pair for name, pair in KERNELS.items() if name != "function"}
#: Kernels that depend on a distance alone, and those of them that have names.
OF_DISTANCE = {
    type(kernel)
    for kernel, _ in REGISTERED.values()
    if not formulas.varies(formulas.diagonal(kernel.formula()))
}
RADIAL = [name for name, (kernel, _) in REGISTERED.items() if type(kernel) in OF_DISTANCE]

"""Convergence of a POLK model: Koppel, Warnell, Stump & Ribeiro 2019, section 4."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from parsimon import losses, merging
from parsimon._parts import real
from parsimon.diagnostics._assumptions import AssumptionError
from parsimon.diagnostics._dense import kernel_and_centers
from parsimon.diagnostics.measures import projection_errors
from parsimon.estimators import POLKClassifier, POLKRegressor
from parsimon.updates import Schedule

Array = NDArray[np.float64]


def regularised_risk(model: Any, X: ArrayLike, y: ArrayLike) -> float:
    """Return the regularised risk of a fitted `POLKRegressor` or `POLKClassifier` on data.

    It is R(f) = mean_i l(f(x_i), y_i) + (lambda / 2) sum_c ||f_c||^2. l is the loss of the model,
    lambda its parameter `alpha`, and f_c its output c. The mean is over the rows (x_i, y_i).

    >>> from parsimon import POLKRegressor
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(300, 1))
    >>> model = POLKRegressor(gamma=1.0).fit(X, X[:, 0])
    >>> 0 < regularised_risk(model, X, X[:, 0]) < 0.1
    True
    """
    loss, alpha = _polk(model)
    return float(loss.values(*_outputs(model, loss, X, y)).mean()) + 0.5 * alpha * squared_norm(
        model
    )


def squared_norm(model: Any) -> float:
    """Return sum_c ||f_c||^2 in the RKHS, over the outputs f_c of a model.

    >>> from parsimon import KNLMSRegressor
    >>> model = KNLMSRegressor(gamma=1.0).fit([[0.0]], [1.0])
    >>> round(squared_norm(model), 3) == round(float(model.weights_[0]) ** 2, 3)
    True
    """
    kernel_and_centers(model)
    return merging.squared_norm(model)


def convergence_radius(step_size: float, parsimony: float, alpha: float, sigma: float) -> float:
    """Return the radius of Theorem 2 on POLK with constant learning rates.

    Let f_t be the function after t steps, and f* the minimiser of the regularised risk. Then

        liminf_t ||f_t - f*|| <= (sqrt(eta) / lambda) (K + sqrt(K^2 + lambda sigma^2)).

    eta is `step_size`, K is `parsimony` and lambda is `alpha`. sigma^2 bounds the mean squared norm
    of the stochastic functional gradient. The theorem assumes a loss that is convex and Lipschitz
    in f, a bounded kernel, and eta < 1 / lambda. After each step, POLK removes centres as long
    as f moves by at most K eta^(3/2).

    Reference: A. Koppel, G. Warnell, E. Stump, A. Ribeiro, *Parsimonious online learning with
    kernels via sparse projections in function space*, JMLR 2019.

    >>> convergence_radius(0.01, 0.0, 1.0, 1.0)
    0.1
    """
    eta, K = real("step_size", step_size, above=0), real("parsimony", parsimony, at_least=0)
    ridge, sigma = real("alpha", alpha, at_least=0), real("sigma", sigma, at_least=0)
    if ridge == 0:
        raise AssumptionError("alpha=0: Theorem 2 assumes a ridge penalty")
    if eta * ridge >= 1:
        raise AssumptionError(
            f"step_size * alpha = {eta * ridge:g}: Theorem 2 assumes step_size < 1 / alpha"
        )
    return float(np.sqrt(eta) / ridge * (K + np.sqrt(K**2 + ridge * sigma**2)))


def growth_distance(step_size: float, parsimony: float, lipschitz: float) -> float:
    """Return the distance K sqrt(eta) / C at which the dictionary of POLK can grow.

    K is `parsimony`, eta is `step_size`, and C, the Lipschitz constant of the loss in f, is
    `lipschitz`. This is equation (76) of the paper. With batches of one sample x, the dictionary
    grows only if k(x, .) is at least this far from the span of the centres. A compact set has only
    finitely many inputs at least this far from each other, so the dictionary stays finite (Theorem
    3).

    Reference: A. Koppel, G. Warnell, E. Stump, A. Ribeiro, *Parsimonious online learning with
    kernels via sparse projections in function space*, JMLR 2019.

    >>> growth_distance(0.25, 0.1, 1.0)
    0.05
    """
    K, eta = real("parsimony", parsimony, at_least=0), real("step_size", step_size, above=0)
    return float(K * np.sqrt(eta) / real("lipschitz", lipschitz, above=0))


@dataclass(frozen=True)
class Convergence:
    """Result of `convergence`. `print` shows it as a table, with the assumptions.

    `risk` is the regularised risk, which is the mean `loss` plus alpha / 2 times `squared_norm`.
    `gradient` is the largest norm of the gradient of the loss in f. `radius` and `growth_distance`
    are bounds of the paper, or None where they do not apply. `novel` is the fraction of rows at
    least `growth_distance` away from the span of the centres.
    """

    risk: float
    loss: float
    squared_norm: float
    gradient: float
    radius: float | None
    growth_distance: float | None
    novel: float | None
    assumptions: tuple[str, ...]

    def __str__(self) -> str:
        rows = [
            ("regularised risk", f"{self.risk:.4g}"),
            ("mean loss", f"{self.loss:.4g}"),
            ("squared norm of f", f"{self.squared_norm:.4g}"),
            ("largest gradient, C", f"{self.gradient:.4g}"),
            (
                "radius of Theorem 2",
                "not promised" if self.radius is None else f"{self.radius:.4g}",
            ),
            (
                "distance (76)",
                "not promised" if self.growth_distance is None else f"{self.growth_distance:.4g}",
            ),
            ("rows that far from the span", "" if self.novel is None else f"{self.novel:.2%}"),
        ]
        width = max(len(name) for name, _ in rows)
        return "\n".join(
            [
                *(f"{name:{width}}  {value}" for name, value in rows),
                *(f"- {a}" for a in self.assumptions),
            ]
        )


def convergence(model: Any, X: ArrayLike, y: ArrayLike) -> Convergence:
    """Report on the convergence of a fitted `POLKRegressor` or `POLKClassifier`.

    The report has the regularised risk on the data, the radius of Theorem 2 (`convergence_radius`)
    and the distance of condition (76) (`growth_distance`). Their constants are estimated from these
    data. C is the largest norm of the gradient l' of the loss in f. sigma is the root mean square
    of ||l'|| sqrt(k(x, x)) + lambda ||f||, which bounds the norm of the functional gradient; lambda
    is `alpha`. So the bounds hold only for streams with similar data. Bounds that do not apply to
    the model are None, and `assumptions` says why.

    Reference: A. Koppel, G. Warnell, E. Stump, A. Ribeiro, *Parsimonious online learning with
    kernels via sparse projections in function space*, JMLR 2019.

    >>> from parsimon import POLKRegressor
    >>> X = np.random.default_rng(0).uniform(-3, 3, size=(500, 1))
    >>> model = POLKRegressor(gamma=1.0, loss="absolute", alpha=0.1).fit(X, np.sin(X[:, 0]))
    >>> report = convergence(model, X, np.sin(X[:, 0]))
    >>> report.radius > 0, report.growth_distance > 0, len(report.assumptions)
    (True, True, 3)
    """
    loss, alpha = _polk(model)
    used = model._learns_with
    F, Y = _outputs(model, loss, X, y)
    core, kernel = loss.core(), kernel_and_centers(model)[0]
    scale = np.sqrt(kernel.diagonal(np.ascontiguousarray(X, dtype=np.float64)))
    slopes = np.array([np.linalg.norm(core.gradient(f, t)) for f, t in zip(F, Y, strict=True)])
    norm = squared_norm(model)
    # The functional gradient is l'(f(x), y) k(x, .) + lambda f.
    sigma = float(np.sqrt(np.mean((slopes * scale + alpha * np.sqrt(norm)) ** 2)))
    C, value = float(slopes.max()), float(loss.values(F, Y).mean())
    said = [
        f"the loss is convex, with gradients of at most C = {C:.4g} as on these data",
        "the kernel is bounded, as on these data",
    ]
    step, K = float(used["step_size"]), float(used["parsimony"])
    schedule = used["schedule"]
    constant = schedule.power == 0 if isinstance(schedule, Schedule) else schedule == "constant"
    full = used["budget"] is not None and model.n_centers_ >= used["budget"]
    radius = distance = novel = None
    if not constant:
        said.append(
            "the rates diminish: Theorem 1 guarantees convergence to f* itself, "
            "and Theorem 2 and (76) do not apply"
        )
    elif full:
        said.append(
            f"budget={used['budget']} may have evicted more than eps allows: "
            "Theorem 2 and (76) do not apply"
        )
    else:
        try:
            radius = convergence_radius(step, K, alpha, sigma)
            said.append(f"the rates are constant, and eta lambda = {step * alpha:g} < 1")
        except AssumptionError as error:
            said.append(str(error))
        if used["maintenance"] == "merge":
            said.append("maintenance='merge': (76) is about projections and does not apply")
        elif used["batch_size"] > 1:
            said.append(
                f"batch_size={used['batch_size']}: (76) assumes one sample per step "
                "and does not apply"
            )
        elif C > 0:
            distance = growth_distance(step, K, C)
            novel = float(np.mean(np.sqrt(projection_errors(model, X=X)) * scale >= distance))
    return Convergence(
        value + 0.5 * alpha * norm, value, norm, C, radius, distance, novel, tuple(said)
    )


def _polk(model: Any) -> tuple[losses.Loss, float]:
    if not isinstance(model, POLKRegressor | POLKClassifier):
        raise TypeError(f"expected a POLKRegressor or POLKClassifier, got {type(model).__name__}")
    kernel_and_centers(model)
    loss: losses.Loss = losses.resolve(model._learns_with["loss"], model._losses)
    return loss, float(model._learns_with["alpha"])


def _outputs(model: Any, loss: losses.Loss, X: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:
    F = model._evaluate(X)
    if y is None or len(np.asarray(y)) != len(F):
        raise ValueError(f"X has {len(F)} rows, y has {0 if y is None else len(np.asarray(y))}")
    if not isinstance(loss, losses.ClassificationLoss):
        return F, np.asarray(y, dtype=np.float64).reshape(len(F), -1)
    columns = {label: i for i, label in enumerate(model.classes_.tolist())}
    unknown = set(np.asarray(y).tolist()) - set(columns)
    if unknown:
        raise ValueError(f"y has labels that the model does not know: {sorted(unknown)}")
    index = np.array([columns[label] for label in np.asarray(y).tolist()])
    return F, loss.targets(index, np.full(len(F), F.shape[1]), F.shape[1])

"""Plots of the bounds that follow from coherence."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from parsimon import diagnostics
from parsimon.plots.drawing import new_figure, save

__all__ = ["approximation_regions", "coherence_bounds"]


def coherence_bounds(path: str | Path, *, coherences: Sequence[float] = (0.1, 0.03, 0.01)) -> Path:
    """Draw the lower bounds of Proposition 3 against the size of the dictionary.

    This is Fig. 1 of Honeine, Richard & Bermudez 2007. It shows bounds on the squared error of
    approximating one element by the others: from earlier work (dashed), from the paper (solid), and
    from its proof without the square root (dotted). The dotted bound is the highest, and it is
    attained. Each coherence mu is drawn up to the size m where (m - 1) mu reaches 1.

    Remark: the paper does not print its values of mu. `coherences` sets them.

    >>> import tempfile, os
    >>> coherence_bounds(os.path.join(tempfile.mkdtemp(), "bounds.png")).exists()
    True
    """
    figure, axis = new_figure(1)
    figure.set_size_inches(7.0, 4.2)
    styles = {"earlier": ("C0", "--"), "printed": ("C3", "-"), "corrected": ("0.3", ":")}
    names = {
        "earlier": "earlier work",
        "printed": "proposed, as printed",
        "corrected": "proposed, without the square root",
    }
    for mu in coherences:
        sizes = _whole_steps(mu)
        for form, (color, line) in styles.items():
            bound = [diagnostics.residual_bound(m, mu, form=form) for m in sizes]
            axis.plot(
                sizes,
                bound,
                color=color,
                linestyle=line,
                linewidth=1.2,
                label=names.pop(form, None),
            )
        axis.annotate(
            rf"$\mu$ = {mu:g}",
            (sizes[-1], 0.0),
            xytext=(3, 4),
            textcoords="offset points",
            fontsize="small",
        )
    axis.set_xscale("log")
    axis.set_ylim(0, 1)
    axis.set_xlabel("size of the dictionary, m")
    axis.set_ylabel("lower bound on the squared error")
    axis.legend(frameon=False, fontsize="small", loc="lower left")
    return save(figure, path)


def _whole_steps(mu: float) -> list[int]:
    """Return about 200 sizes m >= 2 with (m - 1) mu < 1, including the largest."""
    last = int(np.ceil(1.0 / mu))
    if last < 2:
        raise ValueError(f"coherence must be below 1 for two functions to have a bound, got {mu!r}")
    steps = np.unique(np.geomspace(2, last, 200).round().astype(int))
    return [int(m) for m in steps if diagnostics.independence_guaranteed(int(m), mu)]


def approximation_regions(path: str | Path, *, sizes: Sequence[int] = (3, 5, 20)) -> Path:
    """Draw which squared errors are possible when m - 1 centres approximate k(x, .), against mu0.

    This is Fig. 2 of Honeine, Richard & Bermudez 2007. The coherence rule, (6) in the paper, admits
    x if its coherence with each centre is at most mu0. Then there are m centres with x, and the
    error is at least `diagnostics.residual_bound(m, mu0)`, Proposition 3 (blue). If x is rejected,
    the error is at most the upper bound of Proposition 4 (red). Where the regions overlap, the
    error does not show whether x is admitted.

    Remark: the filled regions are correct. The dashed bounds are as printed in the paper. The
    printed upper bound, 1 - mu0, does not hold. The paper does not print its sizes. `sizes` has the
    values of m, each at least 2.

    >>> import tempfile, os
    >>> approximation_regions(os.path.join(tempfile.mkdtemp(), "regions.png")).exists()
    True
    """
    figure, axes = new_figure(len(sizes))
    thresholds = np.linspace(0.0, 1.0, 501)
    for axis, m in zip(np.atleast_1d(axes), sizes, strict=True):
        for form in ("corrected", "printed"):
            above = [diagnostics.rejection_bound(mu0, form=form) for mu0 in thresholds]
            below = [_admitted_bound(m, mu0, form) for mu0 in thresholds]
            if form == "corrected":
                axis.fill_between(
                    thresholds,
                    below,
                    1.0,
                    color="C0",
                    alpha=0.3,
                    linewidth=0,
                    label="x is admitted",
                )
                axis.fill_between(
                    thresholds,
                    0.0,
                    above,
                    color="C3",
                    alpha=0.3,
                    linewidth=0,
                    label="x is rejected",
                )
            else:
                axis.plot(
                    thresholds,
                    below,
                    color="C0",
                    linestyle="--",
                    linewidth=1.2,
                    label="lower bound as printed",
                )
                label = r"$1 - \mu_0$ as printed: does not hold"
                axis.plot(thresholds, above, color="C3", linestyle="--", linewidth=1.2, label=label)
        axis.set(xlim=(0, 1), ylim=(0, 1), title=f"m = {m} centres, counting x")
    axis.set_xlabel(r"coherence threshold, $\mu_0$")
    figure.supylabel("squared error", fontsize="medium")
    np.atleast_1d(axes)[0].legend(frameon=False, fontsize="x-small", loc="upper right")
    return save(figure, path)


def _admitted_bound(m: int, mu0: float, form: str) -> float:
    """Return the smallest squared error of one of m centres, the last one admitted.

    It is 0 where Proposition 3 gives no bound.
    """
    return (
        diagnostics.residual_bound(m, mu0, form=form)
        if diagnostics.independence_guaranteed(m, mu0)
        else 0.0
    )

"""Docstrings that are composed of shared texts.

Parameters such as `kernel` mean the same in many classes. Their texts are here, once. In a
docstring, a line that holds only ``{name}`` stands for a text, and `documented` replaces this line:

>>> @documented
... class Model:
...     \"\"\"A model.
...
...     Parameters
...     ----------
...     n_passes : int, default=1
...         {n_passes}
...     \"\"\"
>>> print(Model.__doc__.splitlines()[5].strip())
Number of passes over the data in `fit`. More passes fit the data more closely.

The line ``name : type, default=...`` stays in the class, beside the signature that it must agree
with. Names of attributes, which end in an underscore, stand for the whole entry.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from textwrap import indent
from typing import TypeVar

__all__ = ["TEXTS", "documented", "documented_like", "entries", "filled", "sections"]

T = TypeVar("T")
Function = TypeVar("Function", bound=Callable[..., object])

#: Shared texts by name: descriptions of parameters, and whole entries of attributes.
TEXTS = {
    # Parameters
    "kernel": """\
Kernel function k(x, z), given as one of these:

- a name: "gaussian" (or "rbf"), "laplacian", "matern32", "matern52", "rational_quadratic",
  "cauchy", "polynomial" (or "poly") or "linear";
- an object of `parsimon.kernels`;
- a Python function of two points, which is much slower.""",
    "gamma": """\
Inverse width of a kernel that is given by name. The Gaussian kernel is
exp(-gamma ||x - z||^2); `parsimon.kernels` has the formulas of the other kernels. Larger
values make a narrower kernel, which can follow finer detail and needs more centres.

"scale" is 1 / (d Var(X)), and "median" is 1 / (2 median ||x_i - x_j||^2). Both are computed
from the first block that is learned. Make sure that this block is representative, or give a
number. If learning starts with a single row, "scale" is 1 / d and "median" is 1 / (4 d),
which suits standardised features. "auto" is always 1 / d. If `kernel` is an object, set
gamma there: names are ignored here, and a number raises an error.""",
    "alpha": """\
Factor lambda of the ridge penalty (lambda / 2) ||f||^2. Larger values shrink f more with
every step. `step_size` times `alpha` must be below 1.""",
    "squared_step_size": """\
Learning rate eta. Larger values adapt faster and leave more noise in f. Explicit steps are
stable for eta < 2 / k(x, x); a sample that violates this raises an error.""",
    "dependence_tolerance": """\
Threshold nu, a squared distance. A sample is admitted if the squared distance of k(x, .)
from the span of the centres is greater than nu. Larger values admit fewer centres.""",
    "budget": """\
Maximum number of centres B. When it is exceeded, one centre is evicted. None means no
limit. Larger budgets can fit more detail and cost more time per sample. The memory for B
centres is reserved at the first sample.""",
    "evicted": """\
Which centre is evicted when the budget is exceeded. "least_cost": the centre whose removal
changes f least is projected out, which costs O(m^2) with m centres. "oldest": the oldest
centre is dropped.""",
    "batch_size": """\
Number of samples b per step. Larger batches average more gradients and take fewer steps.
`fit` and `partial_fit` cut each block into batches from its start. The last s samples, if
they are fewer than b, take a step with the rate eta s / b. `learn_one` takes such a step
with s = 1.""",
    "n_passes": """\
Number of passes over the data in `fit`. More passes fit the data more closely.
`partial_fit` always makes one pass.""",
    "class_weight": """\
Factor on the weight of each sample of a class. Larger values make errors on the class more
expensive. Classes that the dict does not name have the factor 1. With "balanced", a class
with n_c of the n samples has the factor n / (C n_c), where C is the number of
classes. `fit` computes these factors from its labels, and `partial_fit` keeps them.""",
    "shuffle": """\
Whether `fit` shuffles the rows before each pass. Without shuffling, rows that are sorted by
their targets are learned poorly. `partial_fit` never shuffles.""",
    "random_state": """\
Seed for the shuffling. None gives a different order in every call.""",
    "n_jobs": """\
Number of threads for learning (-1: one per core). It changes no bit. Only large work is
shared: models of a thousand centres or more in batches gain, small ones do not. If other
programs use the cores, more threads can be slower than one. A Python function as kernel is
called in one thread.""",
    "mean_intercept": """\
Whether to add an intercept to f: the mean of the targets, for each column of y. Then f
learns the difference, and predictions do not depend on where the zero of y is. `fit` takes
the mean of all targets first. `partial_fit` takes the mean of the targets so far, and
changes it after 1, 2, 4, ... samples. False is the algorithm of the paper.""",
    "class_intercept": """\
Whether to add an intercept to f, one per class. It learns with every step like the weight
of a constant kernel, but does not shrink. False is the algorithm of the paper.""",
    "step": """\
"explicit": the step of the paper, along the gradient at its start. "invariant": the step
follows the gradient along its path, as infinitely many small steps would. It is stable for
any step size and any sample weight, and weight 2 equals two steps of weight 1.""",
    # Parameters of the greedy support vector machines
    "bias": """\
Size of the offset. The kernel in use is k + bias^2, so f gets a regularised constant term.
Larger values penalise the constant less. 0 means no offset.""",
    "dual_step": """\
Criterion for the step length. "error": it minimises the squared error on all samples seen.
"dual": it maximises the dual. The dual increases with both choices. "error" fits much
better on most data; "dual" is more robust to weights of very different size. With a `box`,
the steps are those of "dual".""",
    "coefficient_ridge": """\
Penalty on the coefficients that express a sample by the centres (gamma in the paper).
Larger values keep the coefficients small, admit more centres, and make the fit deviate
slightly from least squares.""",
    "fixed_budget": """\
Maximum number of centres. When it is reached, no further sample is admitted. Centres are
never removed, so `set_budget` cannot be used. None means no limit.""",
    # Parameters of POLK
    "schedule": """\
How the learning rate decreases. "constant": it does not decrease. "diminishing": eta_t =
eta / (1 + (t - 1) / 100)^(3/4) at batch t, with eps_t = K eta_t^2 (Theorem 1 of the
paper).""",
    "pursuit_budget": """\
Maximum number of centres. When it is exceeded, centres are removed even if f then
moves by more than eps. None means no limit. Larger budgets cost more time per sample, and
their memory is reserved at the first sample.""",
    "pursuit_maintenance": """\
How centres are removed. "projection": the centre whose removal changes f least is
projected out, as in the paper. "merge": the centre of smallest norm is merged with another,
while the norms of the changes of f add up to at most eps
(`parsimon.compression.MergingPursuit`); only for the Gaussian kernel. A merged centre lies
between samples, so a small budget is more accurate, and without a Gram factor a large one
is faster.""",
    "neighbors": """\
Number of centres, at most 1000, onto which the change of f by a merge is projected: the
merged centre and those nearest to it. Their weights change by (K + 0.01 I)^-1 r, where K is
their Gram matrix and r the change at these centres. Larger values are more accurate; 64 is
often enough. Each merge then takes longer: the time grows with the square of this number.
With 0 there is no such projection. Other values need ``maintenance="merge"``.""",
    "average": """\
Whether to predict with the mean of f over the steps. This removes most of the noise that a
constant rate leaves. True averages from the first step on. "recent" does so with weights
that grow like the cube of the number of the step. A number n averages after the first n
samples. Learning itself continues with f. The mean has the same dictionary as f, so
the cost of removing a centre includes the change of the mean.""",
    # Attributes
    "centers_": """\
centers_ : ndarray of shape (m, d)
    Centres, oldest first.""",
    "outputs_": """\
weights_ : ndarray of shape (m,) or (m, C)
    Weights of the centres; one column per output if y had columns.
intercept_ : float or ndarray of shape (C,)
    What predictions add to f; 0 without an intercept.
n_outputs_ : int
    Number of outputs C.""",
    "class_outputs_": """\
classes_ : ndarray of shape (C,)
    Labels, sorted. Columns of other arrays follow this order.
weights_ : ndarray of shape (m, C)
    Weights of the centres, one column per class.
intercept_ : ndarray of shape (C,)
    What is added to f, one per class; 0 without an intercept.""",
    "fitted_": """\
n_centers_ : int
    Number of centres m.
n_samples_seen_ : int
    Number of samples learned; every pass counts.
nbytes_ : int
    Memory of the model in bytes, including working memory.
kernel_ : Kernel
    Kernel in use, with `gamma` as a number.
n_features_in_ : int
    Number of features d.
feature_names_in_ : ndarray of shape (d,)
    Names of the features, if X was a frame with column names.""",
    "compression_error_": """\
compression_error_ : float
    Error spent on sparsity: squared RKHS distances by which removals moved f, summed over
    all steps. Without a budget, each step adds at most eps^2.""",
}

_PLACEHOLDER = re.compile(r"^( *)\{(\w+)\}$", re.MULTILINE)
_ENTRY = re.compile(r"^(\w+) :", re.MULTILINE)


def documented(cls: type[T]) -> type[T]:
    """Fill the placeholders in the docstring of a class, and return the class.

    ``{parameters}`` stands for the parameters of the base class, where the signature is inherited
    from it. An unknown placeholder raises a ValueError. Without docstrings (``python -OO``) nothing
    is done.
    """
    if cls.__doc__ is not None:
        bases = (sections(base.__doc__ or "") for base in cls.__mro__[1:])
        inherited = next((found["Parameters"] for found in bases if "Parameters" in found), None)
        own = {} if inherited is None else {"parameters": inherited}
        cls.__doc__ = filled(cls.__doc__, {**TEXTS, **own})
    return cls


def documented_like(other: Callable[..., object]) -> Callable[[Function], Function]:
    """Return a decorator that fills the placeholders in a docstring from that of another function.

    ``{parameters}`` and ``{returns}`` stand for these sections, and ``{name}`` for the entry of a
    parameter. Without docstrings (``python -OO``) nothing is done.

    >>> def first(n):
    ...     \"\"\"Count.
    ...
    ...     Parameters
    ...     ----------
    ...     n : int
    ...         The number.
    ...     \"\"\"
    >>> @documented_like(first)
    ... def second(n):
    ...     \"\"\"Count again.
    ...
    ...     Parameters
    ...     ----------
    ...     {n}
    ...     \"\"\"
    >>> print(second.__doc__.splitlines()[4].strip())
    n : int
    """

    def decorated(function: Function) -> Function:
        if function.__doc__ is not None:
            found = sections(other.__doc__ or "")
            whole = {title.lower(): text for title, text in found.items()}
            function.__doc__ = filled(function.__doc__, whole | entries(found["Parameters"]))
        return function

    return decorated


def filled(text: str, texts: Mapping[str, str] = TEXTS) -> str:
    """Return a text with each line ``{name}`` replaced by the text of that name, indented alike.

    >>> print(filled("budget : int\\n    {size}", {"size": "How many.\\nAt most."}))
    budget : int
        How many.
        At most.
    """

    def replaced(found: re.Match[str]) -> str:
        space, name = found.groups()
        if name not in texts:
            raise ValueError(
                f"unknown placeholder {{{name}}}; known are {', '.join(sorted(texts))}"
            )
        return indent(texts[name], space)

    return _PLACEHOLDER.sub(replaced, text)


def sections(doc: str) -> dict[str, str]:
    """Return the sections of a docstring by title; the text before the first has the title "".

    >>> sections("A model.\\n\\nParameters\\n----------\\na : int")
    {'': 'A model.', 'Parameters': 'a : int'}
    """
    titles = re.split(r"^(\w[\w ]*)\n-{3,}$", inspect.cleandoc(doc), flags=re.MULTILINE)
    parts = zip(["", *titles[1::2]], titles[::2], strict=True)
    return {title: text.strip("\n") for title, text in parts}


def entries(section: str) -> dict[str, str]:
    """Return the entries ``name : type`` of a section by name, each with its description.

    >>> entries("a : int\\n    First.\\nb : int\\n    Second.")
    {'a': 'a : int\\n    First.', 'b': 'b : int\\n    Second.'}
    """
    found = list(_ENTRY.finditer(section))
    ends = [*(after.start() for after in found[1:]), len(section)]
    pairs = zip(found, ends, strict=False)  # without entries there is one end too many
    return {entry[1]: section[entry.start() : end].rstrip() for entry, end in pairs}

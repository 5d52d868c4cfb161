"""Learning from tables: encoder, target and estimator as one model, which needs nothing but the
name of the target.

>>> import numpy as np
>>> rng = np.random.default_rng(0)
>>> size, shop = rng.uniform(size=2000), rng.choice(["town", "village"], size=2000)
>>> block = {"size": size, "shop": shop, "price": 1e5 * np.where(shop == "town", np.sin(6 * size), size)}
>>> model = TableModel("price")
>>> predictions = model.learn(block)
>>> model.task_, bool(model.metrics_.rolling()["r2"] > 0.95)
('regression', True)
>>> bool(abs(model.predict({"size": [0.5], "shop": ["village"]})[0] - 5e4) < 1e4)
True

**Classification by default** is a `MixtureClassifier` of two `POLKClassifier` with logistic loss
and Laplacian kernels, one wide and quick (eta = 2), one narrow and slow (eta = 0.5), of 300 centres
each. **Regression by default** is `KRLSRegressor` with a Laplacian kernel, 400 centres, that
forgets over 2000 rows. Widths come from the median distance of the encoded rows of the warm-up.
``benchmarks/streams.py`` has them beside others.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone

from parsimon import _schema, kernels
from parsimon import estimators as known
from parsimon._parts import lookup, real, whole
from parsimon.evaluation import (
    LEAST,
    METRICS,
    Predictions,
    is_classifier_like,
    predict_then_learn,
    stream_probabilities,
    true_class,
)
from parsimon.persistence import Storable
from parsimon.preprocessing import (
    KINDS,
    LARGEST,
    Column,
    TableEncoder,
    TableError,
    TargetScaler,
    joined,
    read_table,
    require_kind,
    require_usable,
)

__all__ = ["ALGORITHMS", "TASKS", "MixtureClassifier", "TableModel", "make_estimator"]

Array = NDArray[np.float64]
Labels = NDArray[Any]

TASKS = ("auto", "regression", "classification")
#: The most distinct whole numbers that "auto" takes for classes, and the most classes there can be.
FEW, MOST_CLASSES = 20, 1000
#: The rows from which on "auto" takes whole numbers for classes, and from which on it refuses texts
#: that are no classes.
LEAST_ROWS, ENOUGH = 10, 20
#: The share of rows with a text of their own above which "auto" takes them for no classes.
MOST_TEXTS = 0.9
LONGEST_LABEL = 1000


class MixtureClassifier(Storable, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Several classifiers with probabilities, learned side by side, each heard as much as it was
    right of late:

        p(y | x) = sum_k w_k p_k(y | x),    w_k ~ exp(-L_k),    L_k <- (1 - 1 / memory) L_k - log p_k(y_t | x_t).

    For a memory without end these are the weights of Bayes' rule, and the logarithmic loss of the
    mixture is at most log K above that of the best of K from the first row on. With an end it
    follows the best of them where that changes.

    Parameters
    ----------
    candidates : classifiers of parsimon with a logistic loss.
    widths : factors on the candidates' gamma, or None
        The gamma of each, as its own rule ("median", "scale") finds it on the first block, is
        multiplied by this.
    memory : float >= 1, default=500
        Rows over which past losses count.

    Attributes
    ----------
    candidates_ : the classifiers, learned.
    shares_ : w, how much each is heard.
    classes_, n_centers_, nbytes_, n_samples_seen_ : as in the estimators; centres and bytes are
    sums.

    References
    ----------
    M. Herbster, M. K. Warmuth, *Tracking the best expert*, Machine Learning 1998.
    A. E. Raftery, M. Karny, P. Ettler, *Online prediction under model uncertainty via dynamic model
    averaging*, Technometrics 2010.

    Examples
    --------
    >>> from parsimon import POLKClassifier
    >>> X = np.random.default_rng(0).normal(size=(2000, 2))
    >>> quick, slow = (POLKClassifier(gamma="median", loss="logistic", step_size=eta, budget=50) for eta in (2.0, 0.2))
    >>> model = MixtureClassifier([quick, slow]).partial_fit(X, X[:, 0] * X[:, 1] > 0)
    >>> model.predict([[1.0, 1.0], [1.0, -1.0]])
    array([ True, False])
    """

    candidates_: list[Any]
    _losses: Array
    _attributes = _schema.Schema(
        {
            "candidates_": _schema.listed(_schema.one_of(known.POLKClassifier)),
            "_losses": _schema.finite_array(None, least=0, most=1e300),
        },
        {},
    )

    def __init__(
        self,
        candidates: Sequence[Any],
        *,
        widths: Sequence[float] | None = None,
        memory: float = 500.0,
    ) -> None:
        self.candidates = candidates
        self.widths = widths
        self.memory = memory

    def partial_fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Go on learning with a block X (n, d) of labels y (n,).

        A block equals its rows, bit for bit; the first one is what widths are measured on.
        """
        self.predict_proba_then_learn(X, y)
        return self

    def predict_then_learn(self, X: ArrayLike, y: ArrayLike) -> Labels:
        """Learn a block, and return the labels (n,) predicted for each row before it was learned;
        its own for a first row, of which nothing could be known.
        """
        return predict_then_learn(self, X, y).values

    def predict_proba_then_learn(self, X: ArrayLike, y: ArrayLike) -> Array:
        """Learn a block, and return the probabilities before each row, (n, C) as `classes_` is
        then; 0 for classes not known at that row.
        """
        labels = np.asarray(y)
        if not hasattr(self, "candidates_"):
            self.candidates_, self._losses = self._first(X), np.zeros(len(self.candidates))
        each = [stream_probabilities(model, X, labels) for model in self.candidates_]
        losses = -np.log(np.maximum([true_class(P, self.classes_, labels) for P in each], LEAST))
        before = self._discounted(losses)
        result: Array = np.einsum("kn,knc->nc", _shares(before), np.array(each))
        return result

    def predict_proba(self, X: ArrayLike) -> Array:
        """Return the probability of each class, (n, C)."""
        each = np.array([model.predict_proba(X) for model in self._learned()])
        result: Array = np.einsum("k,knc->nc", self.shares_, each)
        return result

    def predict(self, X: ArrayLike) -> Labels:
        """Predict labels for X (n, d): the most probable, (n,)."""
        result: Labels = self.classes_[self.predict_proba(X).argmax(axis=1)]
        return result

    @property
    def shares_(self) -> Array:
        """How much each of the candidates is heard, (K,)."""
        return _shares(self._losses)

    @property
    def classes_(self) -> Labels:
        """The labels, sorted."""
        labels: Labels = self._learned()[0].classes_
        return labels

    @property
    def n_centers_(self) -> int:
        """How many centres the candidates have together."""
        return sum(model.n_centers_ for model in self._learned())

    @property
    def nbytes_(self) -> int:
        """Bytes that the candidates hold."""
        return sum(model.nbytes_ for model in self._learned())

    @property
    def n_samples_seen_(self) -> int:
        """How many samples were learned."""
        seen: int = self._learned()[0].n_samples_seen_
        return seen

    @staticmethod
    def _other_parameters(value: Any) -> bool:
        return isinstance(value, known.POLKClassifier)

    def _require_sound(self) -> None:
        if not hasattr(self, "candidates_"):
            return
        real("memory", self.memory, at_least=1)
        if not self.candidates_ or len(self._losses) != len(self.candidates_):
            raise ValueError(
                f"it has {len(self.candidates_)} candidates and {len(self._losses)} losses"
            )
        for model in self.candidates_:
            if not model.__sklearn_is_fitted__() or not hasattr(model, "predict_proba"):
                raise ValueError("its candidates are not fitted classifiers with probabilities")
            first = self.candidates_[0]
            same = (
                model.classes_.tolist() == first.classes_.tolist()
                and model._closed == first._closed
            )
            if not same or model.n_features_in_ != first.n_features_in_:
                raise ValueError("its candidates have learned different things")

    def _learned(self) -> list[Any]:
        if not hasattr(self, "candidates_"):
            raise AttributeError("nothing has been learned yet")
        return self.candidates_

    def _first(self, X: ArrayLike) -> list[Any]:
        real("memory", self.memory, at_least=1)
        models = [clone(model) for model in self.candidates]
        if not models or not all(
            isinstance(m, known.POLKClassifier) and hasattr(m, "predict_proba") for m in models
        ):
            raise TypeError(
                f"candidates must be POLKClassifiers with a logistic loss, got {self.candidates!r}"
            )
        widths = [1.0] * len(models) if self.widths is None else list(self.widths)
        if len(widths) != len(models):
            raise ValueError(f"there are {len(models)} candidates and {len(widths)} widths")
        for model, width in zip(models, widths, strict=True):
            if self.widths is not None:
                metric = lookup(
                    kernels.KERNELS, kernels.named(model.kernel) or model.kernel, "kernel"
                ).metric
                gamma = kernels.width(
                    model.gamma, kernels.seen(model.kernel, np.asarray(X, dtype=np.float64)), metric
                )
                model.set_params(gamma=real("widths", width, above=0) * gamma)
        return models

    def _discounted(self, losses: Array) -> Array:
        """Take the losses (K, n) of a block, and return the discounted sums before each row."""
        keep = 1.0 - 1.0 / self.memory
        before = np.empty_like(losses)
        for i in range(losses.shape[1]):  # a row after the other, whatever the block
            before[:, i] = self._losses
            self._losses = keep * self._losses + losses[:, i]
        return before


def _shares(losses: Array) -> Array:
    weights = np.exp(losses.min(axis=0) - losses)
    shares: Array = weights / weights.sum(axis=0)
    return shares


# Algorithms by name


def _default_classifier(budget: int = 600, **options: Any) -> MixtureClassifier:
    quick, slow = (
        known.POLKClassifier(
            "laplacian",
            gamma="median",
            loss="logistic",
            step_size=eta,
            parsimony=0.001,
            budget=max(budget // 2, 1),
        )
        for eta in (2.0, 0.5)
    )
    return MixtureClassifier(**{"candidates": [quick, slow], "widths": [0.5, 2.0], **options})


def _with(cls: Callable[..., Any], **defaults: Any) -> Callable[..., Any]:
    return lambda **options: cls(**{"gamma": "median", "budget": 400, **defaults, **options})


_krls = _with(known.KRLSRegressor, kernel="laplacian", tolerance=0.2, ridge=0.1, forgetting=0.9995)
_polk = {"kernel": "laplacian", "parsimony": 0.001}

#: What makes an estimator for encoded rows and scaled targets, by name and task. Each takes
#: `budget` and other parameters of the estimator.
ALGORITHMS: dict[str, dict[str, Callable[..., Any]]] = {
    "default": {"regression": _krls, "classification": _default_classifier},
    "polk": {
        "regression": _with(known.POLKRegressor, **_polk),
        "classification": _with(known.POLKClassifier, loss="logistic", **_polk),
    },
    "krls": {"regression": _krls},
    "knlms": {"regression": _with(known.KNLMSRegressor, kernel="laplacian", step_size=0.3)},
    "klms": {"regression": _with(known.KLMSRegressor)},
    "norma": {"regression": _with(known.NORMARegressor)},
    "spl": {"regression": _with(known.SPLRegressor)},
    "sogsvr": {"regression": _with(known.SOGSVR)},
    "sogsvc": {"classification": _with(known.SOGSVC)},
    "bsgd": {"classification": _with(known.BSGDClassifier)},
}


def make_estimator(algorithm: str, task: str, budget: int | None = None, **options: Any) -> Any:
    """Return the estimator that an algorithm is for a task; see `ALGORITHMS`.

    >>> make_estimator("knlms", "regression", budget=100).budget
    100
    """
    tasks = lookup(ALGORITHMS, algorithm, "algorithm")
    if task not in tasks:
        others = ", ".join(name for name, found in ALGORITHMS.items() if task in found)
        raise ValueError(f"{algorithm} is not for {task}; for that there are {others}")
    if budget is not None:
        options["budget"] = whole("budget", budget, at_least=1)
    try:
        return tasks[task](**options)
    except TypeError as error:
        raise ValueError(f"{algorithm} cannot be made so: {error}") from None


class TableModel(Storable, BaseEstimator):  # type: ignore[misc]
    """Learn to predict one column of a table from the others, block by block, in fixed memory.

    Rows are encoded by a `TableEncoder`, regression targets scaled by a `TargetScaler` (not for a
    loss with a link, such as "poisson"), and an estimator learns them in order. It begins when
    `warmup` rows are there (`finish` lets it begin with those that are): from these it takes the
    task, the columns, and the widths of kernels that are measured. Until then they are held, and
    what is predicted is the target of the row before. How the stream is cut into blocks makes no
    difference, bit for bit, and neither does storing the model and loading it again, at any row.

    Parameters
    ----------
    target : the name of the column to predict.
    task : "auto", "regression" or "classification", default="auto"
        "auto" is classification if the target is text or boolean. Whole numbers are classes if
        there are few different ones in the warm-up: at most 20, and at most one for every ten rows.
        Two are few from ten rows on. With fewer than ten rows there is too little to tell classes
        from quantities, so whole numbers mean regression. Text that is different in more than nine
        of ten rows, of at least 20, is refused: it is no class. `task_reason_` says what was found.
    algorithm : a name from `ALGORITHMS` or an estimator, default="default"
        An estimator is cloned. See the module for what the default is.
    budget : int or None, default=None
        The most centres, for algorithms by name; None is the algorithm's own, 600 (classification
        by default) or 400.
    options : dict or None
        Further parameters of an estimator that is given by name.
    missing, max_categories, clip, ignore : as in `TableEncoder`. A missing target is refused.
    warmup : int >= 2, default=200
    window : int, default=1000
        Rows over which the rolling metrics go.

    Attributes
    ----------
    n_rows_ : rows taken, those of the warm-up included.
    metrics_ : test-then-learn metrics over all rows but the first, or None during the warm-up.
    task_, encoder_, scaler_ (regression), classes_ (classification), estimator_ : from the end of
    the warm-up on.
    task_reason_ : with task="auto", why it is this task, in words; from the end of the warm-up on.
    Not stored.
    reading_ : dict, only in models of the command line whose data were not read in the usual way
        "decimal": the decimal mark, "date_formats": a list, "skipped": how many bad rows were left
        out. The model does not look at it.
    n_centers_, nbytes_ : of the estimator.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x, y = rng.normal(size=(2, 1000))
    >>> model = TableModel("same").set_params(warmup=100)
    >>> predictions = model.learn({"x": x, "y": y, "same": np.where(x * y > 0, "yes", "no")})
    >>> predictions[-3:], model.predict({"y": [1.0, -1.0], "x": [1.0, 1.0]})
    (array(['no', 'yes', 'no'], dtype='<U3'), array(['yes', 'no'], dtype='<U3'))
    >>> sorted(model.metrics_.total())
    ['accuracy', 'kappa', 'kappa_no_change', 'log_loss', 'rows']
    """

    task_: str
    encoder_: TableEncoder
    scaler_: TargetScaler
    estimator_: Any
    task_reason_: str
    reading_: dict[str, Any]
    _scores: Any
    _held: dict[str, Column] | None  # the rows of the warm-up
    _attributes = _schema.Schema(
        {},
        {
            "task_": lambda task: task in TASKS[1:],
            "encoder_": _schema.one_of(TableEncoder),
            "scaler_": _schema.one_of(TargetScaler),
            "estimator_": _schema.one_of(Storable),
            "_scores": _schema.one_of(*METRICS.values()),
            "_target_kind": lambda kind: kind in KINDS,
            "_held": lambda held: held is None or _schema.listed(_is_held)(held),
        },
    )

    def __init__(
        self,
        target: str,
        *,
        task: str = "auto",
        algorithm: Any = "default",
        budget: int | None = None,
        options: Mapping[str, Any] | None = None,
        missing: str = "mean",
        max_categories: int = 32,
        clip: float = 3.0,
        ignore: Sequence[str] = (),
        warmup: int = 200,
        window: int = 1000,
    ) -> None:
        self.target = target
        self.task = task
        self.algorithm = algorithm
        self.budget = budget
        self.options = options
        self.missing = missing
        self.max_categories = max_categories
        self.clip = clip
        self.ignore = ignore
        self.warmup = warmup
        self.window = window

    # Learning and predicting

    def learn(self, block: Any) -> Labels:
        """Take a block, and return what was predicted for each of its rows before it was learned,
        (n,).

        In the warm-up that is the target of the row before; for the very first row, of which
        nothing can be known, its own, which the metrics do not count. A block that is refused
        changes nothing; `TableError` says in which row and column.
        """
        columns, target = self._read(block)
        n = len(target.values)
        if n == 0:
            return np.empty(0)
        if self._warm:
            return self._learn(columns, target)
        before = self.__dict__.copy()
        try:
            # It was made shorter since
            if self.n_rows_ >= whole("warmup", self.warmup, at_least=2):
                self._begin()
                return self._learn(columns, target)
            first = min(n, self.warmup - self.n_rows_)
            predictions = self._hold(
                _rows(columns, slice(0, first)), _rows_of(target, slice(0, first))
            )
            if first < n:
                rest = slice(first, n)
                predictions = np.concatenate(
                    [predictions, self._learn(_rows(columns, rest), _rows_of(target, rest))]
                )
        except BaseException:
            self.__dict__ = before  # all that was made of the block is new
            raise
        return predictions

    def finish(self) -> Self:
        """Let learning begin with the rows that are held, if there are any: the stream ended, or
        they shall be enough.
        """
        if not self._warm and self.n_rows_:
            self._begin()
        return self

    def predict(self, block: Any) -> Labels:
        """Predict for the rows of a block, which need not have the target, (n,).

        During the warm-up: as if `finish` had been called.
        """
        model = self._ready()
        X = model.encoder_.transform(block)
        if not len(X):
            return np.empty(0)
        found: Labels = model.estimator_.predict(X)
        return found if model.task_ == "classification" else model.scaler_.inverse_transform(found)

    def predict_proba(self, block: Any) -> Array:
        """Return the probability of each of `classes_`, (n, C), where the estimator has
        probabilities.
        """
        model = self._ready()
        if not hasattr(model.estimator_, "predict_proba"):
            raise AttributeError(f"{type(model.estimator_).__name__} gives no probabilities")
        X = model.encoder_.transform(block)
        return (
            np.asarray(model.estimator_.predict_proba(X))
            if len(X)
            else np.empty((0, len(model.classes_)))
        )

    # What has been learned

    @property
    def n_rows_(self) -> int:
        """Rows taken so far."""
        if self._warm:
            return self.encoder_.n_rows_seen_
        held: dict[str, Column] | None = getattr(self, "_held", None)
        return 0 if held is None else len(held[self.target].values)

    @property
    def metrics_(self) -> Any:
        """The test-then-learn metrics, or None during the warm-up."""
        return getattr(self, "_scores", None)

    @property
    def classes_(self) -> Labels:
        """The labels, sorted."""
        labels: Labels = self.estimator_.classes_
        return labels

    @property
    def n_centers_(self) -> int:
        """How many centres there are."""
        m: int = self.estimator_.n_centers_
        return m

    @property
    def nbytes_(self) -> int:
        """Bytes that the estimator holds."""
        size: int = self.estimator_.nbytes_
        return size

    # How it is done

    @property
    def _warm(self) -> bool:
        return hasattr(self, "estimator_")

    def _encoder(self) -> TableEncoder:
        return TableEncoder(
            missing=self.missing,
            max_categories=self.max_categories,
            clip=self.clip,
            ignore=[self.target, *self.ignore],
        )

    def _read(self, block: Any) -> tuple[dict[str, Column], Column]:
        """Return the columns of a block, and the target, checked."""
        lookup(dict.fromkeys(TASKS), self.task, "task")
        held: dict[str, Column] | None = getattr(self, "_held", None)
        encoder = self.encoder_ if self._warm else self._encoder()
        target = read_table(block, [self.target])[self.target]
        if held is None:
            columns = encoder.read(block)
        else:
            columns = read_table(block, [name for name in held if name != self.target])
            for name, column in (columns | {self.target: target}).items():
                require_kind(name, column, None if held[name].kind == "empty" else held[name].kind)
        encoder.check(columns)
        # Text and columns without values have codes, which are negative where there is none.
        absent = np.isnan(target.values) | (
            (target.values < 0) & (target.kind in ("text", "empty"))
        )
        if absent.any():
            raise TableError("the target is missing", self.target, int(absent.argmax()))
        if self._warm:
            require_kind(self.target, target, self._target_kind)
        require_usable(self.target, target, "mean")
        if self._warm or self.task != "auto":
            self._targets(target, self.task_ if self._warm else self.task)
        return columns, target

    def _targets(self, target: Column, task: str) -> Labels:
        """Return targets as the task has them, or refuse them."""
        if task == "regression":
            if target.kind not in ("number", "boolean", "duration"):
                raise TableError(
                    f"regression needs numbers, and it holds {target.kind} values", self.target
                )
            loss = getattr(
                self.estimator_ if self._warm else self._make(task), "_target_loss", None
            )
            if loss is not None and (refused := loss.refused(target.values)) is not None:
                raise TableError(
                    f"{target.values[refused[0]]:g} cannot be learned: it {refused[1]}",
                    self.target,
                    refused[0],
                )
            return target.values
        if target.kind == "boolean":
            return target.values.astype(bool)
        if target.kind == "text":
            long = [c for c in target.categories if len(c) > LONGEST_LABEL]
            if long:
                row = int((target.values == target.categories.index(long[0])).argmax())
                raise TableError(f"a label has {len(long[0])} characters", self.target, row)
            labels = np.array([*target.categories, ""])[target.values.astype(np.int64)]
        elif target.kind == "number":
            broken = target.values != np.round(target.values)
            if broken.any() or (np.abs(target.values) > 2.0**53).any():
                row = int((broken | (np.abs(target.values) > 2.0**53)).argmax())
                raise TableError(
                    f"{target.values[row]:g} is no class: classes are text, booleans or whole numbers",
                    self.target,
                    row,
                )
            labels = target.values.astype(np.int64)
        else:
            raise TableError(
                f"classes are text, booleans or whole numbers, and it holds {target.kind} values",
                self.target,
            )
        if (
            len(set(labels.tolist()) | set(self.classes_.tolist() if self._warm else ()))
            > MOST_CLASSES
        ):
            raise TableError(
                f"there are more than {MOST_CLASSES} classes: is this regression?", self.target
            )
        return labels

    def _natural(self, target: Column) -> Labels:
        """Return targets in the form that predictions have, as far as the task is known."""
        if self.task != "auto":
            return self._targets(target, self.task)
        as_classes = target.kind in ("text", "boolean") or _is_whole(target)
        return self._targets(target, "classification") if as_classes else target.values

    def _found_task(self, target: Column) -> tuple[str, str]:
        """Return the task that the targets of the warm-up mean, and why."""
        n, met = len(target.values), len(np.unique(target.values))
        where = f"{self.target} has {{}} in {n:,} row{'s' if n > 1 else ''}"
        if target.kind == "text":
            if n >= ENOUGH and met > MOST_TEXTS * n:
                raise TableError(
                    f"it has {met:,} different texts in {n:,} rows, so it is neither numbers nor classes; "
                    "set the task to classification if they are labels",
                    self.target,
                )
            return "classification", where.format(
                f"{met:,} different texts" if met > 1 else "one text only"
            )
        if target.kind == "boolean":
            return "classification", f"{self.target} is true or false"
        if not _is_whole(target):
            kind = "numbers with fractions" if target.kind == "number" else f"{target.kind} values"
            return "regression", f"{self.target} has {kind}"
        few = met <= max(2 if n >= LEAST_ROWS else 0, min(FEW, n // 10))
        reason = where.format(
            f"{met:,} different whole numbers" if met > 1 else "one whole number only"
        )
        if n < LEAST_ROWS:
            reason += ", too few rows to tell"
        return "classification" if few else "regression", reason

    def _make(self, task: str) -> Any:
        if isinstance(self.algorithm, str):
            return make_estimator(self.algorithm, task, self.budget, **dict(self.options or {}))
        if self.budget is not None or self.options:
            raise ValueError(
                "budget and options are for algorithms by name: set them in the estimator"
            )
        model = clone(self.algorithm)
        if is_classifier_like(model) != (task == "classification"):
            raise ValueError(f"{type(model).__name__} is not for {task}")
        return model

    def _hold(self, columns: dict[str, Column], target: Column) -> Labels:
        """Hold rows, and begin if they complete the warm-up; return the target of the row before
        each.
        """
        block = columns | {self.target: target}
        held: dict[str, Column] | None = getattr(self, "_held", None)
        self._held = (
            block if held is None else {name: joined(held[name], block[name]) for name in held}
        )
        shown = _rows_of(self._held[self.target], slice(-len(target.values) - 1, None))
        if self.n_rows_ == self.warmup:
            self._begin()
        found = self._targets(shown, self.task_) if self._warm else self._natural(shown)
        return (
            found[:-1]
            if len(found) > len(target.values)
            else np.concatenate([found[:1], found[:-1]])
        )

    def _begin(self) -> None:
        held = self._held
        assert held is not None
        task, reason = (
            (self.task, None) if self.task != "auto" else self._found_task(held[self.target])
        )
        columns = {name: column for name, column in held.items() if name != self.target}
        encoder, estimator = self._encoder(), self._make(task)
        encoder.check(columns)
        X = encoder.learn_columns(columns)
        y = self._targets(held[self.target], task)
        if task == "regression":
            self.scaler_ = TargetScaler() if _scales(estimator) else TargetScaler.of_nothing()
            estimator.partial_fit(
                X, self.scaler_.learn_transform(y)[0] if _scales(estimator) else y
            )
        else:
            estimator.partial_fit(X, y)
        self._target_kind = held[self.target].kind
        self._scores = METRICS[task](self.window).update(y, np.concatenate([y[:1], y[:-1]]))
        self.task_, self.encoder_, self.estimator_, self._held = task, encoder, estimator, None
        if reason is not None:
            self.task_reason_ = reason

    def _learn(self, columns: dict[str, Column], target: Column) -> Labels:
        y = self._targets(target, self.task_)
        X = self.encoder_.learn_columns(columns)
        if self.task_ == "classification" or not _scales(self.estimator_):
            found = predict_then_learn(self.estimator_, X, y)
        else:
            scaled, back = self.scaler_.learn_transform(y)
            found = Predictions(back(predict_then_learn(self.estimator_, X, scaled).values))
        self._scores.update(y, *found)
        return found.values

    def _ready(self) -> TableModel:
        if self._warm:
            return self
        if not self.n_rows_:
            raise TableError("nothing has been learned yet")
        return copy.deepcopy(self).finish()

    def __copy__(self) -> TableModel:
        """Return a model of its own."""
        return copy.deepcopy(self)

    def __getstate__(self) -> dict[str, Any]:
        """Return what a file keeps."""
        state = dict(super().__getstate__())
        state.pop("task_reason_", None)
        if state.get("_held") is not None:
            state["_held"] = [[name, *column] for name, column in state["_held"].items()]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take it back."""
        state = dict(state)
        if state.get("_held") is not None:
            held = {
                name: Column(kind, values, categories)
                for name, kind, values, categories in state["_held"]
            }
            if state["target"] not in held or len({len(c.values) for c in held.values()}) != 1:
                raise ValueError("the rows that it holds are not sound")
            if len(held) != len(state["_held"]) or len(held) < 2:
                raise ValueError("the columns that it holds are not sound")
            state["_held"] = held
        if (
            "estimator_" in state
            and not {"task_", "encoder_", "_scores", "_target_kind"} <= state.keys()
        ):
            raise ValueError("it is not complete")
        if not _is_reading(state.get("reading_", {})):
            raise ValueError("what it says about its data is not sound")
        super().__setstate__(state)

    @staticmethod
    def _other_parameters(value: Any) -> bool:
        return isinstance(value, Storable)

    def _require_sound(self) -> None:
        if not isinstance(self.target, str):
            raise ValueError("its target is no name")
        learned = [
            name for name in ("task_", "encoder_", "_scores", "_target_kind") if hasattr(self, name)
        ]
        if not self._warm:
            if learned or hasattr(self, "scaler_"):
                raise ValueError("it has no estimator")
            return
        model, task = self.estimator_, self.task_
        if not isinstance(self._scores, METRICS[task]) or not hasattr(self._scores, "n_rows_"):
            raise ValueError("its metrics are not those of its task")
        if (task == "regression") != hasattr(self, "scaler_") or not hasattr(
            self.encoder_, "columns_"
        ):
            raise ValueError("it is not complete")
        if task == "regression" and not hasattr(self.scaler_, "_moments"):
            raise ValueError("its scaler has seen nothing")
        if not hasattr(model, "partial_fit") or is_classifier_like(model) != (
            task == "classification"
        ):
            raise ValueError(f"its estimator is not for {task}")
        if isinstance(model, MixtureClassifier):
            model = model._learned()[0]
        if not model.__sklearn_is_fitted__() or model.n_features_in_ != self.encoder_.n_features_:
            raise ValueError("its estimator does not fit its encoder")


def _is_held(column: Any) -> bool:
    """Whether this is a column of the warm-up, as a file holds it."""
    if not isinstance(column, list | tuple) or len(column) != 4:
        return False
    name, kind, values, categories = column
    plain = (
        isinstance(name, str)
        and kind in (*KINDS, "empty")
        and _schema.listed(_schema.one_of(str))(categories)
    )
    if (
        not plain
        or not isinstance(values, np.ndarray)
        or values.dtype != np.float64
        or values.ndim != 1
    ):
        return False
    if kind != "text":
        return not (np.abs(values) > LARGEST).any()
    return bool(((values >= -1) & (values < len(categories))).all() and (values % 1 == 0).all())


def _is_reading(value: Any) -> bool:
    """Return whether this can be how data were read."""
    if not isinstance(value, dict) or not value.keys() <= {"decimal", "date_formats", "skipped"}:
        return False
    formats, skipped = value.get("date_formats", []), value.get("skipped", 0)
    sound = isinstance(skipped, int) and not isinstance(skipped, bool) and skipped >= 0
    sound = sound and isinstance(formats, list) and all(isinstance(form, str) for form in formats)
    return sound and value.get("decimal", ".") in (".", ",")


def _is_whole(target: Column) -> bool:
    """Return whether targets are whole numbers that can be classes."""
    whole_numbers = target.kind == "number" and not (target.values % 1).any()
    return whole_numbers and bool((np.abs(target.values) <= 2.0**53).all())


def _scales(estimator: Any) -> bool:
    """Tell whether targets are scaled for an estimator: not if its loss has a link."""
    loss = getattr(estimator, "_target_loss", None)
    return loss is None or loss.inverse_link is None


def _rows_of(column: Column, rows: slice) -> Column:
    return Column(column.kind, column.values[rows], column.categories)


def _rows(columns: dict[str, Column], rows: slice) -> dict[str, Column]:
    return {name: _rows_of(column, rows) for name, column in columns.items()}

"""Conformance with scikit-learn."""

import pickle

import numpy as np
import pytest
import sklearn
from scipy.sparse import coo_array, csr_array, csr_matrix
from sklearn import config_context
from sklearn.base import clone, is_classifier
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.fixes import parse_version
from sklearn.utils.validation import has_fit_parameter

from parsimon import (
    KernelDictionaryClassifier,
    KernelDictionaryLearning,
    MixtureClassifier,
    MixtureRegressor,
)
from parsimon.estimators import (
    ESTIMATORS,
    FILTERS,
)

ALL = (
    *ESTIMATORS,
    *FILTERS,
    KernelDictionaryClassifier,
    KernelDictionaryLearning,
    MixtureClassifier,
    MixtureRegressor,
)
EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": (
        "the check shuffles rows, and a model that learns a stream depends on their order; "
        "and gamma='scale' is computed from the rows without their weights"
    ),
}


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([make() for make in ALL], expected_failed_checks=lambda _: EXPECTED)
def test_scikit_learn_check(estimator, check):
    check(estimator)


def data(estimator, n=60):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    return X, (
        np.where(X[:, 0] > 0, "up", "down") if is_classifier(estimator) else X[:, 0] + 0.1 * X[:, 1]
    )


def answers(model, X):
    return model.transform(X) if hasattr(model, "transform") else model.predict(X)


@pytest.mark.parametrize("frame", ["pandas", "polars"])
@pytest.mark.parametrize("make", ALL)
def test_frames_give_names_and_the_same_model(make, frame):
    library = pytest.importorskip(frame, reason=f"{frame} is not installed")
    X, y = data(make())
    options = {"random_state": 0} if "random_state" in make().get_params() else {}
    table = library.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]})
    model = make(**options).fit(table, library.Series(y))
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(answers(model, table), answers(make(**options).fit(X, y), X))
    before = pickle.dumps(model)
    for other in (
        table[["b", "a", "c"]],
        library.DataFrame({"a": X[:, 0], "b": X[:, 1], "d": X[:, 2]}),
    ):
        with pytest.raises(ValueError, match="feature names"):
            model.partial_fit(other, library.Series(y))
        with pytest.raises(ValueError, match="feature names"):
            answers(model, other)
    assert pickle.dumps(model) == before


@pytest.mark.parametrize("frame", ["pandas", "polars"])
def test_codes_come_as_frames_where_asked(frame):
    library = pytest.importorskip(frame, reason=f"{frame} is not installed")
    X, _ = data(KernelDictionaryLearning())
    model = KernelDictionaryLearning(4, random_state=0).set_output(transform=frame).fit(X)
    codes = model.transform(X)
    assert isinstance(codes, library.DataFrame)
    assert list(codes.columns) == [f"kerneldictionarylearning{i}" for i in range(4)]
    np.testing.assert_array_equal(codes, model.set_output(transform="default").transform(X))


@pytest.mark.parametrize("make", ALL)
def test_pipelines_and_searches(make):
    X, y = data(make(), 90)
    name = "gamma" if "gamma" in make().get_params() else "budget"
    grid = {f"model__{name}": [0.1, 1.0] if name == "gamma" else [50, 100]}
    search = GridSearchCV(
        Pipeline([("scale", StandardScaler()), ("model", make())]), grid, cv=3
    ).fit(10 * X, y)
    assert search.best_params_[f"model__{name}"] in grid[f"model__{name}"]
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert (
        clone(search.best_estimator_["model"]).get_params()
        == search.best_estimator_["model"].get_params()
    )


@pytest.mark.parametrize(
    "make", [make for make in ALL if has_fit_parameter(make(), "sample_weight")]
)
def test_weights_are_routed_through_pipelines_and_searches(make):
    X, y = data(make(), 90)
    weights = np.random.default_rng(1).choice([0.5, 1.0], size=90)
    options = {"random_state": 0} if "random_state" in make().get_params() else {}
    model = make(gamma=0.5, **options)
    with config_context(enable_metadata_routing=True):
        asking = (
            clone(model).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        )
        pipeline = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), asking)
        pipeline.fit(X, y, sample_weight=weights)
        scorer = get_scorer("accuracy" if is_classifier(model) else "r2")
        scorings = [scorer.set_score_request(sample_weight=True)]
        if parse_version(sklearn.__version__) >= parse_version("1.8"):
            scorings.append(None)  # the pipeline's own score, to which older ones route nothing
        scores = [
            cross_validate(
                pipeline, X, y, cv=3, scoring=scoring, params={"sample_weight": weights}
            )["test_score"]
            for scoring in scorings
        ]
        assert scores[0].shape == (3,)
        np.testing.assert_array_equal(scores[0], scores[-1])
        asking.set_partial_fit_request(sample_weight=True)
    direct = model.fit(StandardScaler().fit_transform(X), y, sample_weight=weights)
    np.testing.assert_array_equal(pipeline[-1].weights_, direct.weights_)
    unweighted = clone(model).fit(StandardScaler().fit_transform(X), y)
    assert not np.array_equal(unweighted.predict(X), direct.predict(X)) or is_classifier(model)


@pytest.mark.parametrize("make", ALL)
@pytest.mark.parametrize("sparse", [csr_array, csr_matrix, coo_array])
def test_sparse_matrices_are_refused(make, sparse):
    """Centres are held dense: a block that is sparse for a reason should not fill memory behind the
    user's back.
    """
    X, y = data(make())
    model = make().fit(X, y)
    before = pickle.dumps(model)
    for call in (
        model.fit,
        model.partial_fit,
        lambda X, y: answers(model, X),
        lambda X, y: answers(make().fit(X, y), X),
    ):
        with pytest.raises(TypeError, match=r"Sparse data was passed.*dense"):
            call(sparse(X), y)
    assert pickle.dumps(model) == before

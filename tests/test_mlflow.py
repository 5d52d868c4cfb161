"""The flavour of MLflow, with a real MLflow on files."""

import datetime
import json
import socket
import threading
import urllib.error
import urllib.request
import warnings
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("mlflow", reason="the extra mlflow is not installed")

import mlflow
import pandas as pd

import parsimon.mlflow
from parsimon import Forecaster, KRLSRegressor, POLKClassifier, TableModel
from parsimon.persistence.files import dumps

# MLflow and what it imports warn about many things of their own.
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def files(tmp_path):
    """A tracking store and a registry in files."""
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        patch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
        mlflow.set_tracking_uri((tmp_path / "mlflow").as_uri())
        mlflow.set_experiment("test")
        yield
        mlflow.set_tracking_uri(None)


def table(n=300, seed=0):
    rng = np.random.default_rng(seed)
    size, shop = rng.uniform(size=n), rng.choice(["town", "village"], size=n)
    day = pd.Timestamp("2026-01-31") + pd.to_timedelta(rng.integers(0, 10_000, size=n), unit="h")
    price = np.where(shop == "town", np.sin(6 * size), size)
    return pd.DataFrame(
        {"size": size, "shop": shop, "open": rng.integers(0, 2, n) == 1, "at": day, "price": price}
    )


@pytest.fixture(scope="module")
def model():
    found = TableModel("price", intervals=0.9)
    found.learn(table())
    return found


@pytest.fixture(scope="module")
def classes():
    frame = table().assign(price=lambda f: np.where(f.price > 0.4, "high", "low"))
    found = TableModel("price")
    found.learn(frame)
    return found


def test_saved_models_predict_and_go_on(model, tmp_path):
    parsimon.mlflow.save_model(model, tmp_path / "saved")
    loaded = parsimon.mlflow.load_model(str(tmp_path / "saved"))
    assert dumps(loaded) == dumps(model)
    function = mlflow.pyfunc.load_model(str(tmp_path / "saved"))
    frame = table(20, seed=1).drop(columns="price")
    assert (function.predict(frame) == model.predict(frame)).all()
    assert function.get_raw_model().target == "price"
    # A frame with its columns in another order, and further columns
    other = frame[["at", "open", "shop", "size"]].assign(more=1)
    assert (function.predict(other) == model.predict(frame)).all()


def test_artifacts_hold_data_and_no_pickles(model, tmp_path):
    parsimon.mlflow.save_model(model, tmp_path / "saved")
    names = {path.name for path in (tmp_path / "saved").rglob("*") if path.is_file()}
    assert "model.parsimon" in names and not any(name.endswith(".pkl") for name in names)
    text = (tmp_path / "saved" / "MLmodel").read_text()
    assert "loader_module: parsimon.mlflow" in text and "data: data/model.parsimon" in text
    needed = (tmp_path / "saved" / "requirements.txt").read_text()
    assert f"parsimon=={parsimon.__version__}" in needed and "pandas==" in needed


def test_log_register_and_load(model, files):
    with mlflow.start_run():
        info = parsimon.mlflow.log_model(model, "price", registered_model_name="price")
        mlflow.log_metrics(model.metrics_.rolling())
    frame = table(5, seed=2).drop(columns="price")
    for address in (info.model_uri, "models:/price/1"):
        assert (mlflow.pyfunc.load_model(address).predict(frame) == model.predict(frame)).all()
        assert dumps(parsimon.mlflow.load_model(address)) == dumps(model)
    with mlflow.start_run():
        parsimon.mlflow.log_model(model, "price", registered_model_name="price")
    assert mlflow.MlflowClient().get_model_version("price", "2").version in (2, "2")
    assert info.signature.inputs.input_names() == ["size", "shop", "open", "at"]


def test_intervals_as_a_parameter(model, tmp_path):
    parsimon.mlflow.save_model(model, tmp_path / "saved")
    function = mlflow.pyfunc.load_model(str(tmp_path / "saved"))
    frame = table(6, seed=3).drop(columns="price")
    found = function.predict(frame, params={"intervals": True, "lagged": False})
    expected, intervals = model.predict(frame, lagged=False, return_intervals=True)
    assert list(found.columns) == ["prediction", "lower", "upper"]
    assert (found.to_numpy() == np.column_stack([expected, intervals])).all()
    with pytest.raises(ValueError, match="unknown parameters"):
        parsimon.mlflow.Scorer(model).predict(frame, {"interval": True})
    with pytest.raises(ValueError, match="predicts numbers"):
        parsimon.mlflow.Scorer(model).predict(frame, {"probabilities": True})


def test_probabilities_as_a_parameter(classes, tmp_path):
    parsimon.mlflow.save_model(classes, tmp_path / "saved")
    function = mlflow.pyfunc.load_model(str(tmp_path / "saved"))
    frame = table(6, seed=4).drop(columns="price")
    found = function.predict(frame, params={"probabilities": True})
    assert list(found.columns) == ["prediction", "probability_high", "probability_low"]
    assert (found.prediction == classes.predict(frame)).all()
    assert (found.to_numpy()[:, 1:] == classes.predict_proba(frame)).all()


def test_the_signature_and_the_example(model, classes, tmp_path):
    signature = parsimon.mlflow.signature_of(model)
    types = {each.name: each.type.name for each in signature.inputs}
    assert types == {"size": "double", "shop": "string", "open": "boolean", "at": "datetime"}
    assert [each.type.name for each in signature.outputs] == ["double"]
    assert {each.name for each in signature.params} == {"intervals", "lagged"}
    other = parsimon.mlflow.signature_of(classes)
    assert [each.type.name for each in other.outputs] == ["string"]
    assert {each.name for each in other.params} == {"probabilities", "lagged"}
    example = parsimon.mlflow.example_of(model)
    assert abs(example["size"][0] - table()["size"].mean()) < 1e-9
    assert example["shop"][0] in ("town", "village")
    assert abs(example["at"][0] - table()["at"].mean()) < pd.Timedelta("1s")
    parsimon.mlflow.save_model(model, tmp_path / "saved")
    stored = mlflow.models.Model.load(str(tmp_path / "saved")).load_input_example(
        str(tmp_path / "saved")
    )
    function = mlflow.pyfunc.load_model(str(tmp_path / "saved"))
    assert np.isfinite(function.predict(stored)).all()


def test_kinds_of_columns_that_mlflow_does_not_have(tmp_path):
    rng = np.random.default_rng(0)
    n = 250
    seconds = rng.integers(0, 86_400, n).tolist()
    columns = {
        "day": [datetime.date(2026, 1, 1) + datetime.timedelta(days=s % 99) for s in seconds],
        "time": [(datetime.datetime.min + datetime.timedelta(seconds=s)).time() for s in seconds],
        "took": [datetime.timedelta(seconds=s) for s in seconds],
        "y": np.sin(np.array(seconds) / 1e4),
    }
    model = TableModel("y")
    model.learn(columns)
    assert model.column_kinds_ == {"day": "date", "time": "time", "took": "duration", "y": "number"}
    parsimon.mlflow.save_model(model, tmp_path / "saved")
    function = mlflow.pyfunc.load_model(str(tmp_path / "saved"))
    frame = pd.DataFrame(
        {
            "day": pd.to_datetime(columns["day"][:9]),
            "time": [each.isoformat() for each in columns["time"][:9]],
            "took": [float(s) for s in seconds[:9]],
        }
    )
    expected = model.predict({name: values[:9] for name, values in columns.items()})
    assert (function.predict(frame) == expected).all()
    example = parsimon.mlflow.example_of(model)
    assert np.isfinite(function.predict(example)).all()


def test_missing_values(model, tmp_path):
    parsimon.mlflow.save_model(model, tmp_path / "saved")
    function = mlflow.pyfunc.load_model(str(tmp_path / "saved"))
    frame = table(4).drop(columns="price")
    frame.loc[0, "size"] = np.nan
    frame.loc[1, "shop"] = None
    assert (function.predict(frame) == model.predict(frame)).all()


def test_whole_numbers_need_to_be_floats(model, tmp_path):
    """MLflow does not convert int64 to double: docs/mlflow.md says so."""
    parsimon.mlflow.save_model(model, tmp_path / "saved")
    function = mlflow.pyfunc.load_model(str(tmp_path / "saved"))
    frame = table(2).drop(columns="price").assign(size=[2, 3])
    with pytest.raises(mlflow.exceptions.MlflowException, match="size"):
        function.predict(frame)
    assert len(function.predict(frame.astype({"size": float}))) == 2


def test_models_in_their_warm_up(tmp_path):
    model = TableModel("y")
    model.learn({"x": [1.0, 2.0, 3.0], "y": [1.0, 2.0, 3.0]})
    parsimon.mlflow.save_model(model, tmp_path / "saved")
    loaded = parsimon.mlflow.load_model(str(tmp_path / "saved"))
    assert dumps(loaded) == dumps(model)
    function = mlflow.pyfunc.load_model(str(tmp_path / "saved"))
    assert (function.predict(pd.DataFrame({"x": [2.0]})) == model.predict({"x": [2.0]})).all()


def test_estimators(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    regressor = KRLSRegressor(gamma=1.0).fit(X, X[:, 0])
    parsimon.mlflow.save_model(regressor, tmp_path / "regressor", input_example=X[:2])
    function = mlflow.pyfunc.load_model(str(tmp_path / "regressor"))
    assert (function.predict(X[:5]) == regressor.predict(X[:5])).all()
    classifier = POLKClassifier(gamma=1.0, loss="logistic", random_state=0).fit(X, X[:, 0] > 0)
    found = parsimon.mlflow.Scorer(classifier).predict(X[:5], {"probabilities": True})
    assert (found.to_numpy()[:, 1:] == classifier.predict_proba(X[:5])).all()
    with pytest.raises(ValueError, match="table models"):
        parsimon.mlflow.Scorer(classifier).predict(X[:5], {"intervals": True})


@pytest.mark.parametrize(
    ("what", "error", "reason"),
    [
        (TableModel("y"), ValueError, "nothing has been learned"),
        (Forecaster(horizon=2), TypeError, "a Forecaster cannot be scored"),
        (KRLSRegressor(), TypeError, "has learned"),
    ],
    ids=["empty", "forecaster", "not fitted"],
)
def test_what_cannot_be_scored(tmp_path, what, error, reason):
    with pytest.raises(error, match=reason):
        parsimon.mlflow.save_model(what, tmp_path / "saved")
    assert not (tmp_path / "saved").exists()


def test_models_of_others_are_refused(tmp_path):
    class Other(mlflow.pyfunc.PythonModel):
        def predict(self, context, model_input):
            return model_input

    mlflow.pyfunc.save_model(tmp_path / "other", python_model=Other(), pip_requirements=[])
    with pytest.raises(ValueError, match="is no model of parsimon"):
        parsimon.mlflow.load_model(str(tmp_path / "other"))


def test_the_scoring_server(model, tmp_path):
    """The application of ``mlflow models serve``, in this process."""
    uvicorn = pytest.importorskip("uvicorn")
    from mlflow.pyfunc import scoring_server

    parsimon.mlflow.save_model(model, tmp_path / "saved")
    app = scoring_server.init(mlflow.pyfunc.load_model(str(tmp_path / "saved")))
    frame = table(3, seed=5).drop(columns="price")
    split = json.loads(frame.assign(at=frame["at"].astype(str)).to_json(orient="split"))
    body = {"dataframe_split": {"columns": split["columns"], "data": split["data"]}}
    bound = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_config=None))
    thread = threading.Thread(target=server.run, args=([bound],), daemon=True)
    thread.start()

    def ask(body):
        request = urllib.request.Request(
            f"http://127.0.0.1:{bound.getsockname()[1]}/invocations",
            json.dumps(body).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.loads(answer.read())["predictions"]

    try:
        assert np.allclose(ask(body), model.predict(frame), rtol=1e-12)
        found = ask({**body, "params": {"intervals": True}})
        assert set(found[0]) == {"prediction", "lower", "upper"}
        with pytest.raises(urllib.error.HTTPError) as caught:
            ask({"dataframe_records": [{"size": 1.0}]})
        assert caught.value.code == 400 and b"shop" in caught.value.read()
    finally:
        server.should_exit = True
        thread.join()
        bound.close()


def test_the_page_runs(tmp_path, files, monkeypatch):
    page = Path(parsimon.__file__).parents[2] / "docs" / "mlflow.md"
    if not page.exists():
        pytest.skip("no docs beside the tests")
    monkeypatch.chdir(tmp_path)
    blocks = page.read_text().split("```python\n")[1:]
    assert len(blocks) >= 3
    names = {}
    for block in blocks:
        exec(compile(block.partition("```")[0], "docs/mlflow.md", "exec"), names)

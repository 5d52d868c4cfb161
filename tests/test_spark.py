"""Spark: partitions as shards, and a model a key on streams that are killed."""

import contextlib
import importlib.util
import json
import os
import re
import runpy
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import parsimon
from parsimon import distributed, kernels
from parsimon._extras import install_command
from parsimon.distributed.streaming import learn_keyed, read_models
from parsimon.persistence import dumps, loads

NEEDED = ("pyspark", "pandas", "pyarrow")
MISSING = [name for name in NEEDED if importlib.util.find_spec(name) is None] + ["java"] * (
    shutil.which("java") is None
)
EXAMPLE = Path(__file__).parent.parent / "docs" / "examples" / "keyed_stream.py"
#: Workers are this Python, nothing listens beyond this machine, and Java does not optimise what
#: runs once.
ENVIRONMENT = {
    "PYSPARK_PYTHON": sys.executable,
    "SPARK_LOCAL_IP": "127.0.0.1",
    "JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "OPENBLAS_NUM_THREADS": "1",
}

needs_spark = pytest.mark.skipif(bool(MISSING), reason=f"needs {', '.join(MISSING)}")
pytestmark = pytest.mark.filterwarnings(
    "ignore:PySpark does not yet fully support pandas:FutureWarning"
)


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    import warnings

    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        for name, value in ENVIRONMENT.items():
            patch.setenv(name, value)
        from pyspark.sql import SparkSession

        session = (
            SparkSession.builder.master("local[2]")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")
            .config("spark.sql.shuffle.partitions", "2")
            .config("spark.sql.warehouse.dir", str(tmp_path_factory.mktemp("warehouse")))
            .getOrCreate()
        )
        session.sparkContext.setLogLevel("OFF")
        yield session
        session.stop()


def same(a, b):
    """Return whether two models are equal bit for bit, by the digests of their files."""
    digests = []
    for model in (a, b):
        data = dumps(loads(dumps(model)))  # loading may put attributes in another order
        header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
        digests.append(header["__metadata__"]["digest"])
    return digests[0] == digests[1]


# Shards


def data(n=600, labels=False):
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(n, 2))
    y = np.sin(2 * X[:, 0]) * X[:, 1]
    return (X, np.where(y > 0, "up", "down").astype(object)) if labels else (X, y)


def named(X):
    import pandas as pd

    return pd.DataFrame(X, columns=["x1", "x.2"])


def frame_of(spark, X, y, n_partitions):
    rows = [
        (float(a), float(b), t if isinstance(t, str) else float(t))
        for (a, b), t in zip(X, y, strict=True)
    ]
    kind = "string" if isinstance(rows[0][2], str) else "double"
    return spark.createDataFrame(
        spark.sparkContext.parallelize(rows, n_partitions), f"x1 double, `x.2` double, y {kind}"
    )


@needs_spark
@pytest.mark.parametrize(
    "model",
    [
        parsimon.published(parsimon.KRLSRegressor, gamma=1.0, tolerance=1e-2),
        parsimon.published(
            parsimon.POLKClassifier, gamma="scale", step_size=1.0, budget=25, batch_size=4
        ),
    ],
    ids=["regressor", "classifier"],
)
def test_partitions_learn_as_shards_do(spark, model):
    X, y = data(labels=isinstance(model, parsimon.POLKClassifier))
    frame = named(X)
    shards = [(frame[:200], y[:200]), (frame[200:400], y[200:400]), (frame[400:], y[400:])]
    here = distributed.fit(model, shards, rounds=3, n_jobs=1, progress=False)
    there = distributed.fit(
        model,
        frame_of(spark, X, y, 3),
        engine="spark",
        target="y",
        features=["x1", "x.2"],
        rounds=3,
        progress=False,
    )
    assert there.n_shards == 3
    assert there.model.n_samples_seen_ == 600
    assert there.bytes_sent == here.bytes_sent
    assert same(there.model, here.model)


@needs_spark
def test_partitions_of_unlike_size(spark):
    X, y = data(90)
    frame = (
        frame_of(spark, X, y, 2)
        .union(frame_of(spark, X[:7], y[:7], 1))
        .union(frame_of(spark, X[:1], y[:1], 3))
    )
    engine = distributed.rounds._engine("spark", frame, {"target": "y"})
    assert engine.sizes == [45, 45, 7, 1]  # two of the partitions are empty
    np.testing.assert_array_equal(engine.head(3)[0], X[:3])
    cuts = [(0, 45, 45), (0, 20, 45), (0, 0, 7), (0, 1, 1)]
    start = dumps(parsimon.published(parsimon.KNLMSRegressor, gamma=1.0))
    for r in range(2):
        spans = [(c[r], c[r + 1]) for c in cuts]
        model, _ = engine.round(start, spans)
        blocks = [
            (named(A), b)
            for A, b in ((X[:45], y[:45]), (X[45:], y[45:]), (X[:7], y[:7]), (X[:1], y[:1]))
        ]
        parts = [
            distributed.rounds.learn(start, A[f:t], b[f:t])
            for (A, b), (f, t) in zip(blocks, spans, strict=True)
        ]
        assert same(loads(model), loads(distributed.rounds.combine_all(parts, start)))
        start = model
    assert engine.round(start, [(0, 0)] * 4) == (start, 0)
    cached = spark.sparkContext._jsc.getPersistentRDDs
    before = len(cached())
    del engine
    assert len(cached()) == before - 1


@needs_spark
def test_what_is_wrong_with_a_frame_is_said(spark):
    frame = spark.createDataFrame(
        [(1.0, 2.0, "a", 1.0), (None, 2.0, "b", 1.0)],
        "load double, hour double, s string, y double",
    )
    cases = [
        ({"target": "power"}, ValueError, "no column 'power': it has 'load', 'hour', 's', 'y'"),
        (
            {"target": "y", "features": ["laod"]},
            ValueError,
            "no column 'laod': did you mean 'load'",
        ),
        ({"target": "y"}, TypeError, "column 's' is string"),
        ({"target": "y", "features": []}, ValueError, "no features"),
        (
            {"target": "y", "features": ["hour", "load"]},
            ValueError,
            "null or NaN: 'load' has 1; drop or fill",
        ),
    ]
    for options, error, message in cases:
        with pytest.raises(error, match=message):
            distributed.fit(
                parsimon.published(parsimon.KNLMSRegressor, gamma=1.0),
                frame,
                engine="spark",
                progress=False,
                **options,
            )
    with pytest.raises(ValueError, match="no rows"):
        distributed.fit(
            parsimon.published(parsimon.KNLMSRegressor),
            frame.limit(0),
            engine="spark",
            target="y",
            features=["hour"],
        )


@pytest.mark.parametrize("name", NEEDED)
def test_without_spark(monkeypatch, name):
    monkeypatch.setitem(sys.modules, "pyspark.sql" if name == "pyspark" else name, None)
    with pytest.raises(
        ImportError, match=re.escape(f'engine="spark" needs Spark: {install_command("spark")}')
    ):
        distributed.fit(
            parsimon.published(parsimon.KNLMSRegressor), None, engine="spark", target="y"
        )
    with pytest.raises(ImportError, match="learn_keyed needs Spark"):
        learn_keyed(
            None, parsimon.published(parsimon.KNLMSRegressor), key="k", features=["x"], target="y"
        )


# Keyed streams

READINGS = "device string, line int, time long, x double, z int, y double, label string"
MODEL = parsimon.published(parsimon.KNLMSRegressor, gamma=1.0, budget=10)


def readings(n=60, seed=0):
    import pandas as pd

    rng = np.random.default_rng(seed)
    x, z = rng.uniform(-2, 2, size=n), rng.integers(-2, 3, size=n)
    y = np.sin(2 * x) + z
    return pd.DataFrame(
        {
            "device": rng.choice(["a", "b"], size=n),
            "line": rng.integers(2, size=n),
            "time": rng.permutation(n) + 1000 * seed,
            "x": x,
            "z": z,
            "y": y,
            "label": np.where(y > 0, "up", "down"),
        }
    )


def stream_of(spark, folder, frames):
    folder.mkdir(exist_ok=True)
    for i, frame in enumerate(frames):
        frame.to_csv(folder / f"{i}.csv", index=False)
        os.utime(folder / f"{i}.csv", (1_700_000_000 + i,) * 2)
    source = (
        spark.readStream.schema(READINGS).option("header", True).option("maxFilesPerTrigger", 1)
    )
    return source.csv(str(folder))


def run(out, folder, mode="append"):
    """Run a stream to its end, and return the rows that came out, with the batch they came in."""
    import pandas as pd

    batches = []
    writer = out.writeStream.outputMode(mode).option(
        "checkpointLocation", str(folder / "checkpoint")
    )
    query = writer.foreachBatch(lambda frame, i: batches.append(collected(frame).assign(batch=i)))
    query.trigger(availableNow=True).start().awaitTermination()
    return pd.concat(batches, ignore_index=True)


def collected(frame):
    import pandas as pd

    return pd.DataFrame([row.asDict() for row in frame.collect()], columns=frame.columns)


def plainly(model, frames, features, target, dtype="float64"):
    """Learn frames in order without Spark; return the model and the predictions."""
    model, predictions = parsimon.persistence.loads(dumps(model)), []
    for frame in frames:
        frame = frame.sort_values("time")
        if len(frame):
            predictions.extend(
                model.predict_then_learn(frame[features], frame[target].to_numpy(dtype=dtype))
            )
    return model, predictions


@needs_spark
def test_a_model_a_key(spark, tmp_path):
    frames = [readings(seed=0), readings(seed=1)]
    stream = stream_of(spark, tmp_path / "in", frames)
    model = parsimon.published(parsimon.POLKClassifier, gamma=1.0, step_size=1.0, budget=10)
    out = learn_keyed(
        stream,
        model,
        key=["device", "line"],
        features=["x", "z"],
        target="label",
        order="time",
        keep=["time", "label"],
    )
    rows = run(out, tmp_path)
    assert rows.columns.tolist()[:-1] == [
        "device", "line", "time", "label", "prediction", "n_samples_seen", "refused",
    ]  # fmt: skip
    assert sorted(rows.time) == sorted([*frames[0].time, *frames[1].time])
    models = read_models(spark, tmp_path / "checkpoint")
    assert sorted(models) == [("a", 0), ("a", 1), ("b", 0), ("b", 1)]
    for (device, line), learned in models.items():
        mine = [frame[(frame.device == device) & (frame.line == line)] for frame in frames]
        expected, predictions = plainly(model, mine, ["x", "z"], "label", object)
        assert same(learned, expected)
        got = rows[(rows.device == device) & (rows.line == line)].sort_values("time")
        assert got.n_samples_seen.tolist() == list(range(1, len(got) + 1))
        # No class was known
        assert got.prediction.isna().tolist() == [True] + [False] * (len(got) - 1)
        assert got.prediction.tolist()[1:] == predictions[1:]
    assert rows.refused.isna().all()


@needs_spark
def test_models_go_out_and_refused_rows_are_counted(spark, tmp_path):
    frames = [readings(seed=0), readings(seed=1)]
    frames[0].loc[3, "x"] = np.nan
    frames[1].loc[5, "y"] = np.inf
    stream = stream_of(spark, tmp_path / "in", frames)
    options = {
        "key": "device",
        "features": ["x", "z"],
        "target": "y",
        "order": "time",
        "on_refused": "skip",
    }
    rows = run(learn_keyed(stream, MODEL, output="models", **options), tmp_path, "update")
    last = rows.sort_values("batch").groupby("device").last()
    assert last.n_refused.sum() == 2
    assert last.n_samples_seen.sum() == 118
    models = read_models(spark, str(tmp_path / "checkpoint"))
    for device in ("a", "b"):
        mine = [f[(f.device == device) & f.x.notna() & np.isfinite(f.y)] for f in frames]
        expected, _ = plainly(MODEL, mine, ["x", "z"], "y")
        assert same(loads(bytes(last.model[device])), expected)
        assert same(models[device], expected)

    # The same checkpoint goes on, and what was begun otherwise is told apart.
    stream_of(spark, tmp_path / "in", [*frames, readings(seed=2)])
    for other, features, message in (
        (
            parsimon.published(parsimon.KNLMSRegressor, gamma=1.0, budget=11),
            ["x", "z"],
            "started with budget=10, but it is 11 now",
        ),
        (MODEL, ["z", "x"], r"started with features=\['x', 'z'\]"),
    ):
        with pytest.raises(Exception, match=message):
            run(
                learn_keyed(stream, other, output="models", **{**options, "features": features}),
                tmp_path,
                "update",
            )


@needs_spark
def test_a_refused_row_stops_the_query(spark, tmp_path):
    frame = readings()
    frame.loc[7, "x"] = np.nan
    stream = stream_of(spark, tmp_path / "in", [frame])
    out = learn_keyed(stream, MODEL, key="device", features=["x", "z"], target="y", order="time")
    message = f"key device={frame.device[7]}, row time={frame.time[7]}: the feature 'x' is nan"
    with pytest.raises(Exception, match=message):
        run(out, tmp_path)


@needs_spark
def test_what_is_wrong_with_a_keyed_stream_is_said(spark, tmp_path):
    stream = stream_of(spark, tmp_path / "in", [])
    good = {"estimator": MODEL, "key": "device", "features": ["x"], "target": "y"}
    cases = [
        (
            {"estimator": parsimon.published(parsimon.KNLMSRegressor, budget=5)},
            ValueError,
            "gamma='scale' would be computed from the first rows",
        ),
        (
            {"estimator": parsimon.published(parsimon.KNLMSRegressor, gamma=-1.0, budget=5)},
            ValueError,
            "gamma must be",
        ),
        (
            {"estimator": parsimon.published(parsimon.KNLMSRegressor, lambda x, z: 1.0, budget=5)},
            TypeError,
            "Python function",
        ),
        (
            {"estimator": parsimon.KernelDictionaryLearning(3)},
            TypeError,
            "learns over one dictionary",
        ),
        (
            {"estimator": parsimon.published(parsimon.BSGDClassifier, gamma=1.0)},
            TypeError,
            "labels must be .* is double",
        ),
        ({"key": "devise"}, ValueError, "no column 'devise': did you mean 'device'"),
        ({"features": ["label"]}, TypeError, "column 'label' is string"),
        ({"target": "label"}, TypeError, "column 'label' is string"),
        ({"order": "tmie"}, ValueError, "did you mean 'time'"),
        (
            {"output": "model"},
            ValueError,
            "unknown output 'model'; known are 'predictions', 'models'",
        ),
        ({"on_refused": "ignore"}, ValueError, "unknown on_refused"),
    ]
    for change, error, message in cases:
        with pytest.raises(error, match=message):
            learn_keyed(stream, **{**good, **change})
    with pytest.raises(ValueError, match="output already has a column 'refused'"):
        learn_keyed(stream.withColumnRenamed("time", "refused"), keep=["refused"], **good)
    with pytest.warns(UserWarning, match="no budget"):
        learn_keyed(
            stream,
            **{
                **good,
                "estimator": parsimon.published(parsimon.KNLMSRegressor, kernels.Gaussian(1.0)),
            },
        )
    with pytest.raises(ValueError, match="not a stream"):
        learn_keyed(spark.range(3), **good)
    linear = parsimon.published(parsimon.KNLMSRegressor, "linear", budget=5)
    assert learn_keyed(stream, **{**good, "estimator": linear}).isStreaming


# Being killed


def kill(process):
    """Kill a process that began a session with all it has started: Java, and the workers."""
    mine = [
        int(p.name)
        for p in Path("/proc").iterdir()
        if p.name.isdigit() and session_of(int(p.name)) == process.pid
    ]
    for pid in mine:
        with contextlib.suppress(ProcessLookupError):  # workers end by themselves without Java
            os.kill(pid, signal.SIGKILL)
    process.wait()


def session_of(pid):
    try:
        return os.getsid(pid)
    except ProcessLookupError:
        return None


def newest(folder):
    return max((int(p.name) for p in folder.glob("[0-9]*") if p.name.isdigit()), default=-1)


@needs_spark
@pytest.mark.skipif(not EXAMPLE.exists(), reason="no docs beside the tests")
@pytest.mark.skipif(not Path("/proc/self").exists(), reason="finds what is to be killed in /proc")
def test_a_stream_killed_five_times_learns_every_row_once(spark, tmp_path):
    import pandas as pd

    example = runpy.run_path(str(EXAMPLE))
    checkpoint = tmp_path / "checkpoint"
    moments = [  # given b, the first batch that is not committed
        lambda b: checkpoint / f"offsets/{b}",  # it was planned, and nothing is learned
        lambda b: checkpoint / f"state/0/0/{b + 1}.delta",  # its models were written, and no rows
        # Rows of the next were written, and it is not committed
        lambda b: tmp_path / f"out/_spark_metadata/{b + 1}",
        lambda b: checkpoint / f"commits/{b + 1}",  # the next is done
        lambda b: checkpoint / f"state/0/1/{b + 2}.delta",
        lambda b: tmp_path / "never",
    ]
    inside = 0
    for moment in moments:
        sign = moment(newest(checkpoint / "commits") + 1)
        assert not sign.exists()
        with (tmp_path / "log").open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, EXAMPLE, tmp_path],
                env={**os.environ, **ENVIRONMENT},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
            while process.poll() is None and not sign.exists():
                time.sleep(0.005)
        if process.poll() is None:
            kill(process)
            inside += newest(checkpoint / "offsets") > newest(checkpoint / "commits")
        else:
            assert sign.name == "never" and process.returncode == 0, (tmp_path / "log").read_text()
    assert inside >= 2

    files = [pd.read_csv(path) for path in sorted((tmp_path / "in").iterdir())]
    rows = collected(spark.read.parquet(str(tmp_path / "out")))
    assert sorted(rows.time) == sorted(pd.concat(files).time)
    models = read_models(spark, checkpoint)
    assert sorted(models) == ["fan", "mill", "pump"]
    for device, model in models.items():
        mine = [file[file.device == device] for file in files]
        expected, predictions = plainly(example["MODEL"], mine, example["FEATURES"], "power")
        assert model.n_samples_seen_ == sum(map(len, mine))
        assert same(model, expected)
        got = rows[rows.device == device].sort_values("n_samples_seen")
        assert got.n_samples_seen.tolist() == list(range(1, len(got) + 1))
        np.testing.assert_array_equal(got.prediction, predictions)
        assert same(parsimon.load(tmp_path / f"{device}.parsimon"), expected)

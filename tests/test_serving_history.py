"""What the page shows over time: history in fixed memory, and drift since the last snapshot."""

import numpy as np
import pytest

pytest.importorskip("starlette", reason="the extra serve is not installed")

from serving import example_rows, served

from parsimon import TableModel
from parsimon.client import ServerError
from parsimon.persistence.files import loads
from parsimon.serving.drift import Drift
from parsimon.serving.history import POINTS, ROWS, History
from parsimon.serving.published import Published


def columns(rows):
    return {name: [row[name] for row in rows] for name in rows[0]}


def history_of(client):
    return client.request("GET", "/models/default/history")


def test_points_are_bounded_and_reach_far_back():
    model = TableModel("y").learn_one({"x": 1.0, "y": 2.0}).frozen_copy()
    history = History()
    for at in range(10 * POINTS):
        published = Published("y", at, model, 1, at=1.0 + at)
        assert history.is_due(published)
        history.point(published)
        assert not history.is_due(published)
    points = history.shown()["points"]
    times = [point["at"] for point in points]
    assert len(points) <= POINTS and times == sorted(times)
    assert times[0] == 1.0 and times[-1] == 10 * POINTS
    gaps = np.diff(times)
    assert gaps[-POINTS // 2 + 1 :].max() == 1.0 and gaps.max() <= 64.0
    history.rows(list(range(2 * ROWS)), list(range(2 * ROWS)), None)
    again = History()
    again.restore(history.dumped())
    assert again.shown() == history.shown() and len(again.shown()["rows"]) == ROWS
    again.restore(None)
    assert again.shown() == {"points": [], "rows": [], "errors": []}


def test_history_survives_a_restart(tmp_path):
    rows = example_rows(300)
    with served(tmp_path, target="y", intervals=0.9) as (client, _):
        client.learn(rows[:250], wait=True)
        client.learn(rows[250:], wait=True)
        with pytest.raises(ServerError):
            client.learn([{**rows[0], "a": "text"}])
        before = history_of(client)
    with served(tmp_path) as (client, _):
        after = history_of(client)
        assert after["rows"] == before["rows"] and len(after["rows"]) == 300
        assert after["points"][: len(before["points"])] == before["points"]
        assert "text" in before["errors"][0]["message"]
        client.request("DELETE", "/models/default")
    with served(tmp_path, target="y") as (client, _):
        assert history_of(client)["rows"] == []


@pytest.mark.parametrize("algorithm", ["krls", "default"])
def test_drift_equals_its_definition(tmp_path, algorithm):
    rows = example_rows(400)
    with served(tmp_path, target="y", algorithm=algorithm) as (client, service):
        client.learn(rows[:250], wait=True)
        learner = service.models["default"].learner
        assert learner.history.drift is None
        client.snapshot("one")
        before = loads(client.download())
        client.learn(rows[250:], wait=True)
        now = loads(client.download())
        drift = Drift()
        service.read(lambda c: drift.load(c, 1))
        recent = rows[-100:]
        found = drift.measure(Published.of(now, 0), recent)
    f, g = (model.predict(columns(recent), lagged=False) for model in (now, before))
    expected = np.sqrt(np.mean((f - g) ** 2)) / np.std([row["y"] for row in recent])
    assert found["snapshot"] == "one"
    np.testing.assert_allclose(found["predictions"], expected, rtol=1e-12)
    if algorithm == "krls":
        assert found["rkhs"] == now.estimator_.distance(before.estimator_) > 0.0
    else:
        assert "rkhs" not in found


def test_drift_of_classes_and_of_models_that_cannot_be_compared(tmp_path):
    rows = [{"x": float(i % 7), "y": "low" if i % 7 < 3 else "high"} for i in range(300)]
    with served(tmp_path, target="y") as (client, service):
        client.learn(rows, wait=True)
        client.snapshot("one")
        drift = Drift()
        published = Published.of(loads(client.download()), 0)
        assert drift.measure(published, rows[:50]) is None  # no snapshot is loaded
        service.read(lambda c: drift.load(c, 1))
        assert drift.measure(published, rows[:50]) == {"snapshot": "one", "predictions": 0.0}
        assert drift.measure(published, []) is None
        other = TableModel("y", task="classification")
        other.learn({"z": [1.0, 2.0] * 150, "y": ["a", "b"] * 150})
        assert drift.measure(Published.of(other, 0), [{"z": 1.0, "y": "a"}]) is None
        numbers = TableModel("y", task="regression")
        numbers.learn({"x": np.arange(300.0), "y": np.arange(300.0)})
        assert drift.measure(Published.of(numbers, 0), [{"x": 1.0, "y": 1.0}]) is None
        client.request("DELETE", "/models/default/snapshots/one")
        service.read(lambda c: drift.load(c, 1))
        assert drift.measure(published, rows[:50]) is None

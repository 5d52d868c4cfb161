"""Streams of messages, with a broker in memory: what they mean, and what is promised."""

import json

import pytest

pytest.importorskip("starlette", reason="the extra serve is not installed")

from serving import example_rows, learned_from, rows_of_log
from streams import InLoop, Memory, wait_for

from parsimon import TableModel
from parsimon.cli import main
from parsimon.persistence.files import dumps
from parsimon.serving import Limits, Service, inbox, log
from parsimon.serving.connecting import read_settings
from parsimon.serving.errors import StoreFailure
from parsimon.serving.sources import Address
from parsimon.serving.streams import Stream


@pytest.fixture
def service(tmp_path):
    found = Service(tmp_path)
    found.create("default", TableModel("y"))
    yield found
    found.close()


def run(service, source, until=None, **options):
    """Run a stream until all messages are acknowledged, or a condition holds."""
    stream = Stream(service, "default", source, "memory", **options)
    with InLoop(stream):
        wait_for(until or (lambda: len(source.acknowledged) >= len(source.bodies)), 20)
    return stream


def bad(service):
    return service.read(lambda c: inbox.bad_messages(c, 1))


def learned(service):
    """Return the file of the model after everything in the log."""
    place = service.read(lambda c: c.execute("SELECT max(place) FROM log").fetchone()[0])
    return service.models["default"].learner.file(place).result(20).data


def unlabelled(row):
    return {name: value for name, value in row.items() if name != "y"}


def test_rows_are_learned_in_order(service, tmp_path):
    rows = example_rows(300)
    source = Memory(rows, together=7)
    stream = run(service, source)
    assert source.acknowledged == list(range(300))
    assert [row for entry in rows_of_log(tmp_path) for row in entry] == rows
    assert stream.counts["learned"] == 300 and stream.counts["bad"] == 0
    model = TableModel("y")
    model.learn({name: [row[name] for row in rows] for name in rows[0]})
    assert learned(service) == dumps(model)


def test_predictions_are_published_with_what_they_answer(service):
    rows = example_rows(4)
    messages = [rows[0], {"rows": rows[1:3], "key": "pair"}, unlabelled(rows[3])]
    source = Memory(messages, together=1)
    stream = run(service, source)
    first, pair, last = source.answers
    assert first["predictions"] == [{"prediction": None}] and first["n"] == 0
    assert pair["key"] == "pair" and pair["topic"] == "memory" and pair["place"] == 2
    assert len(pair["predictions"]) == 2 and pair["predicted_at"] >= 1
    assert last["predictions"][0]["id"] == "1-1" and "key" not in last
    assert stream.counts["published"] == 3


def test_labels_come_later_also_before_anything_was_learned(service, tmp_path):
    rows = example_rows(3)
    source = Memory([unlabelled(row) for row in rows])
    run(service, source)
    ids = [answer["predictions"][0]["id"] for answer in source.answers]
    labels = [{"id": ids[i], "label": rows[i]["y"]} for i in (2, 0)]
    late = Memory([{"labels": labels}, {"labels": [{"id": ids[1], "label": rows[1]["y"]}]}] * 2)
    stream = run(service, late)
    assert late.answers == [] and stream.counts["labelled"] == 4 and not bad(service)
    assert [row["n"] for entry in rows_of_log(tmp_path) for row in entry] == [2.0, 0.0, 1.0]


def test_null_targets_are_predicted(service):
    rows = example_rows(2)
    source = Memory([rows[0], {**rows[1], "y": None}])
    stream = run(service, source)
    assert stream.counts["learned"] == stream.counts["predicted"] == 1


def test_intervals_and_probabilities(tmp_path):
    service = Service(tmp_path)
    service.create("default", TableModel("y", intervals=0.9))
    try:
        rows = example_rows(300)
        run(service, Memory([{"rows": rows}]))
        learned(service)
        wait_for(lambda: service.models["default"].learner.published.warm)
        ask = {"rows": [unlabelled(rows[0])], "remember": False}
        source = Memory([ask, {**ask, "intervals": False}, {**ask, "probabilities": True}])
        run(service, source)
        with_interval, without = (answer["predictions"][0] for answer in source.answers)
        low, high = with_interval["interval"]
        assert low < with_interval["prediction"] < high
        assert set(without) == {"prediction"}
        assert "probabilities are for classes" in bad(service)[0]["reason"]
    finally:
        service.close()


BAD = [
    (b"", "not JSON"),
    (b"\xff\xfe", "not JSON"),
    (b"[1]", "must be a JSON object"),
    (b'{"x": NaN}', "not a number of JSON"),
    (b"[" * 100_000, "nested too deeply"),
    (b"{}", "between 1 and"),
    (b'{"rows": []}', "at least one"),
    (b'{"rows": [{"a": 1}], "other": 1}', "unknown field 'other'"),
    (b'{"rows": [{"a": 1}], "key": 7}', "must be of type string"),
    (b'{"rows": [{"a": [1]}]}', "numbers, texts"),
    (b'{"a": {"b": 1}}', "numbers, texts"),
    (b'{"labels": [{"id": "1-77", "label": 2.0}]}', "there is no id"),
    (b'{"labels": [{"id": "1-1", "label": null}]}', "must not be null"),
    (b'{"labels": []}', "1 to"),
    (b'{"a": 1.0, "y": 1.0}', "no such column"),
    (b'{"n": 1.0, "a": "text", "b": 1.0, "y": 1.0}', "'a'"),
    (b'{"n": 1.0, "a": 1e999, "b": 1.0, "y": 1.0}', "infinite"),
]


def test_bad_messages_are_kept_and_do_not_stop_the_stream(service, tmp_path):
    rows = example_rows(250)
    run(service, Memory([{"rows": rows}]))
    learned(service)
    wait_for(lambda: service.models["default"].learner.published.warm)
    before = learned(service)
    good = [{"rows": example_rows(1, seed=i, start=1000 + i)} for i in range(len(BAD))]
    messages = [each for pair in zip((body for body, _ in BAD), good, strict=True) for each in pair]
    source = Memory(messages)
    stream = run(service, source)
    assert len(source.acknowledged) == 2 * len(BAD)
    assert stream.counts["bad"] == len(BAD) and stream.counts["learned"] == len(BAD)
    for kept, (body, reason) in zip(reversed(bad(service)), BAD, strict=True):
        assert reason in kept["reason"], (body, kept)
        assert kept["topic"] == "memory" and kept["body"] == body[:65536].decode(errors="replace")
    assert learned(service) != before
    assert learned(service) == learned_from(rows_of_log(tmp_path), TableModel("y"))


def test_rows_that_only_the_learner_can_refuse(service):
    """During the warm-up."""
    rows = example_rows(3)
    source = Memory([rows[0], {**rows[1], "a": "text"}, {**rows[2], "more": 1.0}, rows[2]])
    stream = run(service, source)
    assert stream.counts["bad"] == 1 and stream.counts["learned"] == 3
    assert "'a'" in bad(service)[0]["reason"]


def test_few_bad_messages_are_kept(tmp_path):
    service = Service(tmp_path, Limits(bad_messages=3, message_bytes=100))
    service.create("default", TableModel("y"))
    try:
        run(service, Memory([b"x%d" % i for i in range(9)]))
        assert [each["body"] for each in bad(service)] == ["x8", "x7", "x6"]
    finally:
        service.close()


def test_a_message_that_is_too_large(service):
    source = Memory([{"x": 1.0}])

    async def take():
        found = await Memory.take(source)
        return [found[0]._replace(body=None, size=5 << 20)]

    source.take = take
    run(service, source)
    assert "5242880 bytes" in bad(service)[0]["reason"]


@pytest.mark.parametrize("numbered", [False, True])
def test_messages_that_come_again_are_learned_once(service, tmp_path, numbered):
    """With keys of the sender, or with numbers of the broker. The answers are the first ones."""
    rows = example_rows(40)
    messages = [
        {"rows": [row if i % 3 else unlabelled(row)]} | ({} if numbered else {"key": f"k{i}"})
        for i, row in enumerate(rows)
    ]
    first = Memory(messages, numbered, together=5)
    run(service, first)
    before = rows_of_log(tmp_path)
    again = Memory([*messages[:20], b"bad", *messages[20:]], numbered, together=11)
    if numbered:
        again = Memory([*messages, *messages[:1], b"bad"], numbered, together=11)
    stream = run(service, again)
    assert rows_of_log(tmp_path)[: len(before)] == before
    assert stream.counts["known"] == 40 and stream.counts["bad"] == 1
    answers = [answer for answer in again.answers if answer["n"] != 40 or not numbered]
    strip = ("n",)
    assert [{k: v for k, v in a.items() if k not in strip} for a in answers] == [
        {k: v for k, v in a.items() if k not in strip} for a in first.answers
    ]


def test_a_known_message_that_the_model_would_refuse_now(service, tmp_path):
    """The model can have changed since the message was logged."""
    messages = [{"rows": example_rows(250), "key": "all"}]
    run(service, Memory(messages))
    learned(service)
    wait_for(lambda: service.models["default"].learner.published.warm)
    other = TableModel("y", warmup=10)
    other.learn({"other": [float(i) for i in range(20)], "y": [float(i) for i in range(20)]})
    service.store.run(lambda c: log.append(c, 1, "upload", dumps(other)))
    learned(service)
    again = Memory(messages)
    stream = run(service, again)
    assert stream.counts["known"] == 1 and again.answers and not bad(service)


def test_a_key_in_a_column(service, tmp_path):
    rows = [{**row, "order": i // 2} for i, row in enumerate(example_rows(6))]
    for row in rows[1::2]:
        row.update(rows[rows.index(row) - 1])
    source = Memory([*rows, {"a": 1.0, "y": 2.0}])
    stream = run(service, source, key_column="order")
    assert stream.counts["learned"] == stream.counts["known"] == 3
    assert [entry[0]["n"] for entry in rows_of_log(tmp_path)] == [0.0, 2.0, 4.0]
    assert "order" not in rows_of_log(tmp_path)[0][0]
    assert bad(service)[0]["reason"] == "column 'order': the key is missing"


def test_a_key_for_another_message(service):
    rows = example_rows(2)
    run(service, Memory([{"rows": [row], "key": "same"} for row in rows]))
    assert "used for another" in bad(service)[0]["reason"]


def test_offsets_that_begin_anew_are_not_skipped_silently(service):
    run(service, Memory(example_rows(3), numbered=True))
    run(service, Memory(example_rows(3, seed=1), numbered=True))
    assert "made anew" in bad(service)[0]["reason"] and len(bad(service)) == 3
    service.store.run(lambda c: inbox.forget(c, 1, "memory", 0))
    stream = run(service, Memory(example_rows(3, seed=1), numbered=True))
    assert stream.counts["learned"] == 3


def test_without_keys_messages_are_learned_at_least_once(service, tmp_path):
    rows = example_rows(3)
    run(service, Memory(rows))
    run(service, Memory(rows))
    assert [entry[0]["n"] for entry in rows_of_log(tmp_path)] == [0.0, 1.0, 2.0] * 2


def test_the_stream_waits_while_the_model_is_paused(service, tmp_path):
    rows = example_rows(5)
    service.store.run(lambda c: c.execute("UPDATE models SET paused = 1"))
    source = Memory([*rows[:1], unlabelled(rows[0]), *rows[1:]], together=2)
    stream = Stream(service, "default", source, "memory")
    with InLoop(stream):
        wait_for(lambda: stream.waits_for)
        assert "paused" in stream.state()["waits_for"]
        assert not source.acknowledged and stream.state()["unacknowledged"] == 2
        service.store.run(lambda c: c.execute("UPDATE models SET paused = 0"))
        wait_for(lambda: len(source.acknowledged) == 6)
        assert stream.state()["waits_for"] is None
    assert service.models["default"].numbers.last == 1  # tries did not use up ids
    assert [entry[0]["n"] for entry in rows_of_log(tmp_path)] == [0.0, 1.0, 2.0, 3.0, 4.0]


def test_the_stream_waits_for_the_store_and_for_the_learner(service, tmp_path, monkeypatch):
    source, failures = Memory(example_rows(5)), iter([StoreFailure("disk full")] * 2)
    stored = service.stored

    async def failing(action):
        for failure in failures:
            raise failure
        return await stored(action)

    monkeypatch.setattr(service, "stored", failing)
    notes = []
    monkeypatch.setattr(service, "note", lambda text, **values: notes.append((text, values)))
    run(service, source)
    assert [text for text, _ in notes] == ["stream waits"]
    assert "disk full" in notes[0][1]["reason"]
    assert len(rows_of_log(tmp_path)) == 5
    behind = Memory(example_rows(1))
    monkeypatch.setattr(type(service.models["default"]), "backlog", 10**9)
    stream = Stream(service, "default", behind, "memory")
    with InLoop(stream):
        wait_for(lambda: "rows wait to be learned" in (stream.waits_for or ""))
    assert not behind.acknowledged


def test_the_end_of_the_server_finishes_what_was_taken(service, tmp_path):
    source = Memory(example_rows(100), together=10)
    stream = Stream(service, "default", source, "memory")
    with InLoop(stream):
        wait_for(lambda: source.acknowledged)
    logged = [row["n"] for entry in rows_of_log(tmp_path) for row in entry]
    assert source.acknowledged == [int(n) for n in logged]


def test_answers_that_the_broker_refuses_do_not_stop_the_stream(service):
    source = Memory(example_rows(3), together=1)
    source.refuses = 1
    stream = run(service, source)
    assert stream.counts["not_published"] == 3 and stream.counts["learned"] == 3


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("http://host/topic", "mqtt://"),
        ("host/topic", "mqtt://"),
        ("mqtt://host", "needs a topic"),
        ("mqtt://host/", "needs a topic"),
        ("mqtt://me:secret@host/topic", "PARSIMON_BROKER_PASSWORD"),
        ("mqtt://a,b/topic", "one host"),
        ("kafka://me@host/topic", "--kafka-config"),
        ("mqtt://host:0/topic", "is no host"),
        ("mqtt://host:99999/topic", "is no host"),
        ("mqtt://ho st/topic", "is no host"),
    ],
)
def test_addresses_that_are_refused(text, reason):
    with pytest.raises(ValueError, match=reason) as caught:
        Address.parsed(text)
    assert "secret" not in str(caught.value)


def test_addresses():
    found = Address.parsed("kafka://a:1,[::1]/orders")
    assert found.hosts == (("a", 1), ("[::1]", 9092)) and found.broker == "a:1,[::1]:9092"
    assert Address.parsed("mqtts://x@h/a/+/b?c#d").topic == "a/+/b?c#d"


def test_settings_of_kafka(tmp_path):
    path = tmp_path / "kafka.properties"
    path.write_text("# comment\n\nsasl.username = shop\nsasl.password=a=b\n")
    assert read_settings(path) == {"sasl.username": "shop", "sasl.password": "a=b"}
    path.write_text("nothing")
    with pytest.raises(ValueError, match="line 1"):
        read_settings(path)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--target", "y", "--publish", "answers"], "need --from"),
        (["--target", "y", "--from", "http://host/topic"], "--from: a stream begins with one of"),
        (["--target", "y", "--from", "nats://host/topic"], "kafka://"),
        (["--target", "y", "--from", "mqtt://h/t", "--kafka-config", "f"], "is for kafka://"),
        (["--from", "mqtt://127.0.0.1/rows"], "a stream needs a model"),
        (
            ["--target", "y", "--from", "mqtt://h/shop/#", "--publish", "shop/answers"],
            "would come back as messages of shop/#",
        ),
    ],
)
def test_commands_that_are_refused(tmp_path, monkeypatch, capsys, options, reason):
    pytest.importorskip("paho", reason="the extra mqtt is not installed")
    monkeypatch.chdir(tmp_path)
    assert main(["serve", *options]) == 2
    assert reason in " ".join(capsys.readouterr().err.split())


def test_a_missing_extra_is_named(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("parsimon.cli.serve.find_spec", lambda name: None)
    for scheme in ("mqtt", "kafka"):
        assert main(["serve", "--target", "y", "--from", f"{scheme}://host/topic"]) == 2
        assert f"[{scheme}]" in capsys.readouterr().err
    assert not (tmp_path / "parsimon-store").exists()


def test_a_store_of_version_1_is_extended(tmp_path):
    service = Service(tmp_path)
    service.create("default", TableModel("y"))
    drop = ("clients", "message_keys", "positions", "bad_messages")
    service.store.run(lambda c: [c.execute(f"DROP TABLE {table}") for table in drop])
    service.store.run(lambda c: c.execute("PRAGMA user_version = 1"))
    service.close()
    service = Service(tmp_path)
    try:
        run(service, Memory([{"rows": example_rows(2), "key": "k"}, b"bad"]))
        assert len(bad(service)) == 1
        service.delete("default")
        left = "SELECT count(*) FROM message_keys"
        assert service.read(lambda c: c.execute(left).fetchone()[0]) == 0
    finally:
        service.close()


def test_the_schemas_of_messages_are_described():
    from parsimon.serving.openapi import SCHEMAS

    assert json.dumps(SCHEMAS["RowsMessage"]) and SCHEMAS["LabelsMessage"]["required"] == ["labels"]

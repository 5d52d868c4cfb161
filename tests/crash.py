"""A server that is killed again and again while clients use it."""

import random
import threading
import time

from serving import Process, example_rows, learned_from, rows_of_log

from parsimon import TableModel
from parsimon.client import Client


def _use(url, number, acknowledged, stop, errors):
    """Predict, learn and label rows, with retries, and note what was acknowledged."""
    client, rng = Client(url, retries=120, timeout=20), random.Random(number)
    at = 0
    try:
        while not stop.is_set():
            n = rng.choice((1, 1, 3, 20))
            rows = example_rows(n, seed=1000 * number + at, start=1e6 * number + at)
            how = rng.choice(("learn", "learn", "predict_learn", "label"))
            if how == "label":
                found = client.predict([_without(row) for row in rows])
                labels = {f["id"]: r["y"] for f, r in zip(found, rows, strict=True)}
                shuffled = list(labels.items())
                rng.shuffle(shuffled)
                client.label(dict(shuffled))
            else:
                getattr(client, how)(rows)
            acknowledged.extend(row["n"] for row in rows)
            at += n
    except Exception as error:
        errors.append(error)


def _without(row):
    return {name: value for name, value in row.items() if name != "y"}


def kill_often(folder, kills, seed, clients=4):
    """Kill a server at random moments under load, and check that nothing was lost."""
    rng = random.Random(seed)
    server = Process(folder, "--target", "y", "--checkpoint-seconds", 0.3, "--log-entries", 10**9)
    server.start()
    Client(server.url).learn(example_rows(30, seed=99, start=1e9))
    acknowledged, errors, stop = [row["n"] for row in example_rows(30, start=1e9)], [], []
    stop = threading.Event()
    threads = [
        threading.Thread(target=_use, args=(server.url, i + 1, acknowledged, stop, errors))
        for i in range(clients)
    ]
    for thread in threads:
        thread.start()
    try:
        for _ in range(kills):
            time.sleep(rng.uniform(0.05, 1.5))
            server.kill()
            server.start()
        time.sleep(0.5)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert not errors, errors
    found = Client(server.url).download()
    server.kill()
    entries = rows_of_log(folder)
    learned = [row["n"] for rows in entries for row in rows]
    assert len(set(learned)) == len(learned), "a row was learned twice"
    assert set(learned) == set(acknowledged), "a row was lost, or learned without acknowledgement"
    assert found == learned_from(entries, TableModel("y")), "the model is another one"
    return {"kills": kills, "acknowledged": len(acknowledged), "entries": len(entries)}

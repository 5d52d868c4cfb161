"""Servers of streams, killed many times while messages come, with MQTT and with Kafka.

Afterwards every row that was sent is in the log: once with keys or with Kafka, at least once
without keys. The model equals, byte for byte, one that learned the log in order. What is not
installed is left out. `--kills` and `--seed` change the run.
"""

import argparse
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from stream_crash import kill_kafka, kill_mqtt
from streams import Mosquitto, mock_kafka


def mqtt(folder, kills, seed, keys):
    (folder / "broker").mkdir()
    broker = Mosquitto(folder / "broker").start()
    try:
        return kill_mqtt(folder / "store", broker, kills, seed, keys)
    finally:
        broker.stop()


def kafka(folder, kills, seed):
    with mock_kafka("rows") as address:
        return kill_kafka(folder, address, kills, seed)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=25)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    has_mqtt = find_spec("paho") and Mosquitto.path
    runs = {
        "MQTT with keys": (has_mqtt, lambda f: mqtt(f, given.kills, given.seed, True)),
        "MQTT without keys": (has_mqtt, lambda f: mqtt(f, given.kills // 3, given.seed, False)),
        "Kafka": (find_spec("confluent_kafka"), lambda f: kafka(f, given.kills, given.seed)),
    }
    for name, (possible, run) in runs.items():
        if not possible:
            print(f"{name}: left out, because the client or mosquitto is not installed")
            continue
        began = time.time()
        with tempfile.TemporaryDirectory() as folder:
            report = run(Path(folder))
        print(f"{name}: {report} in {time.time() - began:.0f} s: nothing lost", flush=True)


if __name__ == "__main__":
    main()

"""A model for each device, on Spark Structured Streaming: python docs/examples/keyed_stream.py
FOLDER

Kill it whenever you like (the whole of it: kill -9) and start it again with the same folder: it
goes on where it was, and comes to the same models as if nothing had happened. Needs Java 17 or
later, and pip install "parsimon[spark]".
"""

import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd

from parsimon import KRLSRegressor
from parsimon.distributed.streaming import learn_keyed, read_models

MODEL = KRLSRegressor(gamma=2.0, tolerance=1e-3, budget=30)
FEATURES = ["load", "hour"]
SCHEMA = "device string, time long, load double, hour double, power double"


def write_readings(folder: Path, n_files: int = 8, n: int = 90) -> None:
    """Write what three devices send, a file for every hundred readings or so, as a job before this
    one might.
    """
    rng = np.random.default_rng(0)
    unfinished = folder.with_name("unfinished")
    unfinished.mkdir(parents=True, exist_ok=True)
    for i in range(n_files):
        load, hour = rng.uniform(-1, 1, size=(2, n))
        kind = rng.integers(3, size=n)
        power = (
            np.sin((2 + kind) * load) + 0.5 * kind * np.cos(2 * hour) + 0.05 * rng.normal(size=n)
        )
        device = np.array(["fan", "mill", "pump"])[kind]
        # Within a file they come in any order
        time = rng.permutation(np.arange(i * n, (i + 1) * n))
        readings = pd.DataFrame(
            {"device": device, "time": time, "load": load, "hour": hour, "power": power}
        )
        path = unfinished / f"{i:03}.csv"
        readings.to_csv(path, index=False)
        os.utime(path, (1_700_000_000 + i, 1_700_000_000 + i))  # Spark reads the oldest first
    unfinished.rename(folder)


def main(folder: Path) -> None:
    """Learn all that is there, and say what came of it."""
    os.environ["PYSPARK_PYTHON"] = sys.executable  # workers are to be this Python
    from pyspark.sql import SparkSession
    from pyspark.sql import functions as F

    if not (folder / "in").exists():
        write_readings(folder / "in")
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .getOrCreate()
    )
    readings = (
        spark.readStream.schema(SCHEMA).option("header", True).option("maxFilesPerTrigger", 1)
    )
    scored = learn_keyed(
        readings.csv(str(folder / "in")),
        MODEL,
        key="device",
        features=FEATURES,
        target="power",
        order="time",
        keep=["time", "power"],
    )
    query = (
        scored.writeStream.format("parquet")
        .option("path", str(folder / "out"))
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()

    models = read_models(spark, str(folder / "checkpoint"))
    rows = spark.read.parquet(str(folder / "out")).where("n_samples_seen > 100")
    errors = rows.groupBy("device").agg(
        F.avg(F.pow(F.col("power") - F.col("prediction"), 2)).alias("mse")
    )
    for device, mse in sorted(errors.collect()):
        model = models[device]
        print(
            f"{device}: {model.n_samples_seen_} readings, {model.n_centers_} centres, squared error {mse:.4f}"
        )
        model.save(folder / f"{device}.parsimon")
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))

"""One model per device on Spark Structured Streaming.

    python docs/examples/keyed_stream.py FOLDER

You can kill it at any time (with kill -9) and start it again with the same folder. It continues
where it was, and the models are the same as without the interruption. It needs Java 17 or later,
and pip install "parsimon[spark]".
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
    """Write the readings of three devices, one file for every 90, as an upstream job would."""
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
        # Within a file they are in no order
        time = rng.permutation(np.arange(i * n, (i + 1) * n))
        readings = pd.DataFrame(
            {"device": device, "time": time, "load": load, "hour": hour, "power": power}
        )
        path = unfinished / f"{i:03}.csv"
        readings.to_csv(path, index=False)
        os.utime(path, (1_700_000_000 + i, 1_700_000_000 + i))  # Spark reads the oldest first
    unfinished.rename(folder)


def main(folder: Path) -> None:
    """Learn all readings, and print the results."""
    os.environ["PYSPARK_PYTHON"] = sys.executable  # for the workers
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
            f"{device}: {model.n_samples_seen_} readings, {model.n_centers_} centres, "
            f"squared error {mse:.4f}"
        )
        model.save(folder / f"{device}.parsimon")
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))

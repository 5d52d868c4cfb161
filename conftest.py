"""Do not collect modules whose optional packages are not installed."""

from importlib.util import find_spec

NEEDS = {
    "river": "src/parsimon/river",
    "distributed": "src/parsimon/distributed/dask.py",
    "mlflow": "src/parsimon/mlflow",
    "paho": "src/parsimon/serving/sources/mqtt.py",
    "confluent_kafka": "src/parsimon/serving/sources/kafka.py",
    "schemathesis": "tests/soak/serving_schema.py",
}
collect_ignore = [path for module, path in NEEDS.items() if not find_spec(module)]

"""A flavour of MLflow: models that MLflow logs, registers and serves.

    import mlflow
    import parsimon.mlflow

    with mlflow.start_run():
        parsimon.mlflow.log_model(model, name="price", registered_model_name="price")
    mlflow.pyfunc.load_model("models:/price/1").predict(frame)

The artifact holds a model file of parsimon, which is data and never code. See docs/mlflow.md.

- `flavour`: save, log and load;
- `signatures`: the signature and the example of a table model;
- `scoring`: predictions for data frames.
"""

from parsimon.mlflow.flavour import (
    FLAVOR_NAME,
    get_default_pip_requirements,
    load_model,
    log_model,
    save_model,
)
from parsimon.mlflow.scoring import Scorer, load_scorer
from parsimon.mlflow.signatures import example_of, signature_of

__all__ = [
    "FLAVOR_NAME",
    "Scorer",
    "example_of",
    "get_default_pip_requirements",
    "load_model",
    "log_model",
    "save_model",
    "signature_of",
]

#: MLflow calls it with the path of the model file, to load a model as a Python function.
_load_pyfunc = load_scorer

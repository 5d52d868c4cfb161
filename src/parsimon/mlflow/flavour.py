"""Models as artifacts of MLflow."""

from __future__ import annotations

import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

import mlflow
from mlflow.models import Model

from parsimon.mlflow.scoring import require_scorable
from parsimon.mlflow.signatures import example_of, signature_of
from parsimon.persistence import load, save
from parsimon.tables import TableModel

__all__ = [
    "FLAVOR_NAME",
    "get_default_pip_requirements",
    "load_model",
    "log_model",
    "save_model",
]

#: The name of the flavour in the file MLmodel.
FLAVOR_NAME = "parsimon"
#: The module whose `_load_pyfunc` and `save_model` MLflow calls.
MODULE = "parsimon.mlflow"
#: The name of the model file in an artifact, and where MLflow puts it.
FILE, FOLDER = "model.parsimon", "data"


def get_default_pip_requirements() -> list[str]:
    """Return what a server of the model installs, besides MLflow.

    >>> get_default_pip_requirements()[0].partition("==")[0]
    'parsimon'
    """
    return [f"parsimon=={version('parsimon')}", f"pandas=={version('pandas')}"]


def save_model(
    model: Any,
    path: Any,
    *,
    signature: Any = None,
    input_example: Any = None,
    pip_requirements: list[str] | str | None = None,
    mlflow_model: Any = None,
    **options: Any,
) -> None:
    """Save a model in the format of MLflow, into a new folder.

    Parameters
    ----------
    model : TableModel or estimator
        A model that has learned.
    path : path
        The folder, which must not exist.
    signature : mlflow.models.ModelSignature or None, default=None
        None means `signature_of(model)` for a table model. An estimator then gets the signature of
        its example, if there is one.
    input_example : DataFrame or None, default=None
        None means `example_of(model)` for a table model.
    pip_requirements : list of str, path or None, default=None
        None means `get_default_pip_requirements()`.
    mlflow_model : mlflow.models.Model or None, default=None
        What MLflow knows about the model so far.
    **options
        Further options of `mlflow.pyfunc.save_model`, such as metadata.
    """
    require_scorable(model)
    if isinstance(model, TableModel):
        signature = signature_of(model) if signature is None else signature
        input_example = example_of(model) if input_example is None else input_example
    if pip_requirements is None and options.get("conda_env") is None:
        pip_requirements = get_default_pip_requirements()
    found = Model() if mlflow_model is None else mlflow_model
    found.add_flavor(
        FLAVOR_NAME,
        parsimon_version=version("parsimon"),
        model=type(model).__name__,
        data=f"{FOLDER}/{FILE}",
    )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / FILE
        save(model, file)
        mlflow.pyfunc.save_model(
            path=path,
            loader_module=MODULE,
            data_path=str(file),
            mlflow_model=found,
            signature=signature,
            input_example=input_example,
            pip_requirements=pip_requirements,
            **options,
        )


def log_model(
    model: Any, name: str, *, registered_model_name: str | None = None, **options: Any
) -> Any:
    """Log a model in the current run, and return what MLflow knows about it.

    Parameters
    ----------
    model : TableModel or estimator
        A model that has learned.
    name : str
        The name of the model in the run.
    registered_model_name : str or None, default=None
        The name under which the registry gets a new version of the model.
    **options
        Further options of `save_model`, and of `mlflow.models.Model.log`, such as tags.
    """
    require_scorable(model)
    return Model.log(
        artifact_path=None,
        name=name,
        flavor=sys.modules[MODULE],
        registered_model_name=registered_model_name,
        model=model,
        **options,
    )


def load_model(model_uri: str, dst_path: str | None = None) -> Any:
    """Return the model of an address such as ``models:/price/1``. It can go on learning.

    `dst_path` is a folder for what is downloaded. None means a temporary folder.
    """
    folder = Path(mlflow.artifacts.download_artifacts(artifact_uri=model_uri, dst_path=dst_path))
    flavors = Model.load(str(folder)).flavors
    if FLAVOR_NAME not in flavors:
        known = ", ".join(flavors)
        raise ValueError(f"{model_uri} is no model of parsimon: its flavours are {known}")
    return load(folder / flavors[FLAVOR_NAME]["data"])

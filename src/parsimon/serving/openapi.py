"""The description of the addresses, and of what bodies may have."""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib.metadata import version
from typing import Any

from parsimon.serving.errors import Refused
from parsimon.tables import ALGORITHMS, TASKS, TableModel, make_estimator

__all__ = ["SCHEMAS", "check_fields", "description", "new_model"]

_TYPES: dict[str, tuple[type, ...]] = {
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "string": (str,),
    "array": (list,),
    "object": (dict,),
}
_VALUE = {"type": ["string", "number", "boolean", "null"]}
_ROWS = {
    "type": "array",
    "minItems": 1,
    "items": {"type": "object", "minProperties": 1, "additionalProperties": _VALUE},
    "description": "Rows with values by column. All rows have the same columns.",
}
_WAIT = {
    "type": "boolean",
    "default": False,
    "description": "Answer after the rows were learned, with the predictions before learning.",
}
#: What can be asked for with a prediction.
_ASKED = {
    "intervals": {
        "type": "boolean",
        "default": False,
        "description": "Give an interval for each row.",
    },
    "probabilities": {"type": "boolean", "default": False, "description": "Give probabilities."},
}
_REMEMBER = {
    "type": "boolean",
    "default": True,
    "description": "Keep each row under an id until its label comes.",
}
_KEY = {
    "type": "string",
    "minLength": 1,
    "maxLength": 200,
    "description": "A message of a stream with the same key is learned once.",
}
_LABELS = {
    "type": "array",
    "minItems": 1,
    "items": {
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "label": {"type": ["string", "number", "boolean"]},
        },
        "required": ["id", "label"],
    },
    "description": "Ids of predictions with what came, in the order in which to learn.",
}


def _object(required: Iterable[str] = (), **properties: Any) -> dict[str, Any]:
    found: dict[str, Any] = {
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
    }
    return found | ({"required": list(required)} if required else {})


#: The fields of JSON bodies, and of messages of streams, by name.
SCHEMAS: dict[str, dict[str, Any]] = {
    "Predict": _object(["rows"], rows=_ROWS, **_ASKED, remember=_REMEMBER),
    "Learn": _object(["rows"], rows=_ROWS, wait=_WAIT),
    "PredictLearn": _object(["rows"], rows=_ROWS, **_ASKED, wait=_WAIT),
    "Labels": _object(["labels"], labels=_LABELS, wait=_WAIT),
    "RowsMessage": _object(["rows"], rows=_ROWS, key=_KEY, **_ASKED, remember=_REMEMBER),
    "LabelsMessage": _object(["labels"], labels=_LABELS, key=_KEY),
    "Model": _object(
        ["target"],
        target={"type": "string", "minLength": 1, "maxLength": 200},
        task={"type": "string", "enum": list(TASKS)},
        algorithm={"type": "string", "enum": list(ALGORITHMS)},
        budget={"type": "integer", "minimum": 1, "maximum": 10_000},
        missing={"type": "string", "enum": ["mean", "error"]},
        max_categories={"type": "integer", "minimum": 1, "maximum": 1000},
        ignore={"type": "array", "items": {"type": "string"}},
        warmup={"type": "integer", "minimum": 2, "maximum": 10_000},
        window={"type": "integer", "minimum": 1, "maximum": 100_000},
        intervals={"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
        shadow_of={"type": "string"},
    ),
    "Nothing": _object(),
}


def check_fields(value: dict[str, Any], schema: str) -> None:
    """Raise `Refused` unless an object has the fields of a schema.

    >>> check_fields({"rows": []}, "Learn")
    """
    properties = SCHEMAS[schema]["properties"]
    for name in value:
        if name not in properties:
            known = ", ".join(properties) or "none"
            raise Refused(422, f"unknown field {name[:50]!r}; known are {known}")
    for name in SCHEMAS[schema].get("required", ()):
        if name not in value:
            raise Refused(422, f"the field {name!r} is missing")
    for name, given in value.items():
        _check(name, given, properties[name])


def new_model(fields: dict[str, Any]) -> TableModel:
    """Return the model that a request describes, or raise `Refused`."""
    if fields["target"] in fields.get("ignore", ()):
        raise Refused(422, "the target is among the columns to ignore")
    try:
        model = TableModel(**fields)
        tasks = ALGORITHMS[model.algorithm]
        if model.task != "auto" and model.task not in tasks:
            raise Refused(422, f"{model.algorithm} is not for {model.task}")
        make_estimator(model.algorithm, next(iter(tasks)), model.budget)
        fields["target"].encode()
    except (TypeError, ValueError) as error:
        raise Refused(422, str(error)) from None
    return model


def description(routes: Iterable[Any]) -> dict[str, Any]:
    """Return the OpenAPI description of addresses."""
    paths: dict[str, Any] = {}
    for address in routes:
        operation: dict[str, Any] = {
            "operationId": address.name,
            "summary": address.summary,
            "parameters": [
                {"name": n, "in": "path", "required": True, "schema": {"type": "string"}}
                for n in re.findall(r"{(\w+)}", address.path)
            ],
            "responses": {str(s): _answer(address, s) for s in _statuses(address)},
        }
        if address.name in ("learn", "predict_learn", "label"):
            operation["parameters"].append(
                {
                    "name": "Idempotency-Key",
                    "in": "header",
                    "schema": {"type": "string", "minLength": 1, "maxLength": 200},
                    "description": "A request with the same key is learned once.",
                }
            )
        if address.schema == "File":
            content: dict[str, Any] = {"application/octet-stream": {}}
            operation["requestBody"] = {"required": True, "content": content}
        elif address.schema is not None:
            reference = {"$ref": f"#/components/schemas/{address.schema}"}
            operation["requestBody"] = {"content": {"application/json": {"schema": reference}}}
        paths.setdefault(address.path, {})[address.method.lower()] = operation
    return {
        "openapi": "3.1.0",
        "info": {"title": "parsimon", "version": version("parsimon")},
        "paths": paths,
        "components": {
            "schemas": SCHEMAS,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"token": []}],
    }


def _statuses(address: Any) -> list[int]:
    # Every address can refuse a Host, a token or a page of another site.
    given = {*address.answers, 401, 403, 421}
    return sorted(given | ({400, 408, 413, 415, 422} if address.schema else set()))


def _answer(address: Any, status: int) -> dict[str, Any]:
    if status != 200:
        return {"description": "Refused: the field error says why."}
    kinds = {"metrics": "text/plain", "download": "application/octet-stream"}
    kind = kinds.get(address.name, "application/json")
    return {"description": "Done.", "content": {kind: {}}}


def _check(name: str, given: Any, schema: dict[str, Any]) -> None:
    kind = schema["type"]
    right = isinstance(given, _TYPES[kind]) and (kind == "boolean" or not isinstance(given, bool))
    if not right:
        raise Refused(422, f"the field {name!r} must be of type {kind}")
    if "enum" in schema and given not in schema["enum"]:
        raise Refused(422, f"the field {name!r} must be one of {', '.join(schema['enum'])}")
    if kind == "string" and not schema.get("minLength", 0) <= len(given) <= schema.get(
        "maxLength", 200
    ):
        raise Refused(422, f"the field {name!r} has {len(given)} characters")
    if kind in ("integer", "number"):
        low: float = schema.get("minimum", schema.get("exclusiveMinimum", 0))
        high: float = schema.get("maximum", schema.get("exclusiveMaximum", 0))
        strict = "exclusiveMinimum" in schema
        if not low <= given <= high or (strict and given in (low, high)):
            raise Refused(422, f"the field {name!r} must be between {low} and {high}")
    if name == "ignore" and not all(isinstance(each, str) and len(each) <= 200 for each in given):
        raise Refused(422, "the field 'ignore' must be a list of column names")

"""Bodies of requests: JSON and model files, within limits."""

from __future__ import annotations

import asyncio
from typing import Any

from starlette.requests import Request

from parsimon.serving import openapi
from parsimon.serving.errors import Refused
from parsimon.serving.limits import Limits
from parsimon.serving.rows import decoded

__all__ = ["file_of", "json_of", "key_of"]

#: A JSON body of more bytes is parsed in a thread.
LARGE = 1 << 18
#: The most characters of an idempotency key.
LONGEST_KEY = 200


async def json_of(request: Request, limits: Limits, schema: str) -> dict[str, Any]:
    """Return the JSON object of a request, whose fields are those of a schema.

    The type application/json is needed, also without a body. So a form of another site cannot send
    requests.
    """
    _require_type(request, "application/json")
    body = await _read(request, limits.body_bytes, limits.body_seconds)
    if not body.strip():
        body = b"{}"
    value = decoded(body) if len(body) < LARGE else await asyncio.to_thread(decoded, body)
    if not isinstance(value, dict):
        raise Refused(422, "the body must be a JSON object")
    openapi.check_fields(value, schema)
    return value


async def file_of(request: Request, limits: Limits) -> bytes:
    """Return the model file of a request."""
    _require_type(request, "application/octet-stream")
    return await _read(request, limits.upload_bytes, limits.body_seconds)


def key_of(request: Request) -> str | None:
    """Return the idempotency key of a request, or None."""
    key = request.headers.get("idempotency-key")
    if key is not None and not (0 < len(key) <= LONGEST_KEY and key.isprintable()):
        raise Refused(422, f"an idempotency key has 1 to {LONGEST_KEY} characters")
    return key


def _require_type(request: Request, expected: str) -> None:
    given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if given != expected:
        raise Refused(415, f"the header Content-Type must be {expected}")


async def _read(request: Request, most: int, seconds: float) -> bytes:
    declared = request.headers.get("content-length", "0")
    if not declared.isdecimal() or len(declared) > 15 or int(declared) > most:
        raise _too_large(most)
    parts: list[bytes] = []
    total = 0
    try:
        async with asyncio.timeout(seconds):
            async for part in request.stream():
                total += len(part)
                if total > most:
                    raise _too_large(most)
                parts.append(part)
    except TimeoutError:
        raise Refused(408, f"the body did not arrive within {seconds:g} s") from None
    return b"".join(parts)


def _too_large(most: int) -> Refused:
    return Refused(413, f"the body is too large; the most are {most} bytes")

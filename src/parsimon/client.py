"""A client of ``parsimon serve``, with the standard library only.

>>> client = Client("http://127.0.0.1:8000")
>>> client.url
'http://127.0.0.1:8000'
"""

from __future__ import annotations

import http.client
import json
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

__all__ = ["Client", "ServerError"]

#: Statuses after which a request is sent again.
RETRIED = (429, 502, 503, 504)


class ServerError(Exception):
    """The server refused a request. `status` is the HTTP status, and `details` its answer."""

    def __init__(self, status: int, details: Mapping[str, Any]) -> None:
        self.status, self.details = status, details
        super().__init__(f"{status}: {details.get('error', 'no answer')}")


class Client:
    """A model on a server.

    What is to be learned is sent with an idempotency key, and sent again if the connection breaks.
    So every row is learned exactly once.

    Parameters
    ----------
    url : str
        The address of the server.
    model : str, default="default"
        The name of the model.
    token : str or None, default=None
        The token of the server.
    timeout : float, default=30.0
        Seconds to wait for an answer.
    retries : int, default=8
        How often a request is sent again. The pauses grow from 0.05 s to 2 s.
    """

    def __init__(
        self,
        url: str,
        model: str = "default",
        *,
        token: str | None = None,
        timeout: float = 30.0,
        retries: int = 8,
    ) -> None:
        self.url, self.model = url.rstrip("/"), model
        self.timeout, self.retries = timeout, retries
        self._headers = {} if token is None else {"Authorization": f"Bearer {token}"}

    def predict(self, rows: Sequence[Mapping[str, Any]], **options: Any) -> list[dict[str, Any]]:
        """Return a dict for each row: prediction, id, and what `options` ask for.

        `options` are intervals, probabilities and remember.
        """
        body = {"rows": rows, **options}
        answer = self.request("POST", self._path("/predict"), body, again=True)
        found: list[dict[str, Any]] = answer["predictions"]
        return found

    def learn(
        self, rows: Sequence[Mapping[str, Any]], *, wait: bool = False, key: str | None = None
    ) -> dict[str, Any]:
        """Learn rows with targets, and return their place in the log."""
        return self._post("learn", {"rows": rows, "wait": wait}, key or uuid.uuid4().hex)

    def predict_learn(
        self, rows: Sequence[Mapping[str, Any]], *, key: str | None = None, **options: Any
    ) -> dict[str, Any]:
        """Predict rows, then learn them."""
        return self._post("predict-learn", {"rows": rows, **options}, key or uuid.uuid4().hex)

    def label(
        self, labels: Mapping[str, Any], *, wait: bool = False, key: str | None = None
    ) -> dict[str, Any]:
        """Learn predicted rows: labels by id, in order."""
        given = [{"id": each, "label": label} for each, label in labels.items()]
        return self._post("labels", {"labels": given, "wait": wait}, key or uuid.uuid4().hex)

    def state(self) -> dict[str, Any]:
        """Return the state of the model: rows, metrics, places in the log."""
        found: dict[str, Any] = self.request("GET", self._path(""))
        return found

    def create(self, target: str, **parameters: Any) -> dict[str, Any]:
        """Add the model, which begins empty. `parameters` are those of `TableModel`."""
        found: dict[str, Any] = self.request(
            "PUT", self._path(""), {"target": target, **parameters}
        )
        return found

    def download(self) -> bytes:
        """Return the model file, after all rows so far."""
        found: bytes = self.request("GET", self._path("/file"))
        return found

    def upload(self, data: bytes) -> dict[str, Any]:
        """Replace the model by that of a file."""
        found: dict[str, Any] = self.request("PUT", self._path("/file"), data)
        return found

    def snapshot(self, name: str) -> dict[str, Any]:
        """Keep the model as it is under a name."""
        path = self._path(f"/snapshots/{quote(name, safe='')}")
        found: dict[str, Any] = self.request("PUT", path, {})
        return found

    def back(self, name: str) -> dict[str, Any]:
        """Go back to a snapshot."""
        return self._post(f"snapshots/{quote(name, safe='')}/back", {})

    def pause(self) -> dict[str, Any]:
        """Refuse rows from now on."""
        return self._post("pause", {})

    def resume(self) -> dict[str, Any]:
        """Accept rows again."""
        return self._post("resume", {})

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        key: str | None = None,
        *,
        again: bool = False,
    ) -> Any:
        """Send a request, and return its answer: JSON, or the bytes of a file.

        Without an answer, requests with a key, those that read, and with `again` are sent again.
        """
        headers = dict(self._headers)
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        if data is not None:
            kind = "octet-stream" if isinstance(body, bytes) else "json"
            headers["Content-Type"] = f"application/{kind}"
        if key is not None:
            headers["Idempotency-Key"] = key
        again = again or method == "GET" or key is not None
        for attempt in range(self.retries + 1):
            if attempt:
                time.sleep(min(2.0, 0.05 * 2**attempt))
            request = urllib.request.Request(self.url + path, data, headers, method=method)
            try:
                with urllib.request.urlopen(request, timeout=self.timeout) as answer:
                    found = answer.read()
                    is_json = answer.headers.get_content_type() == "application/json"
                    return json.loads(found) if is_json else found
            except urllib.error.HTTPError as error:
                with error:
                    text = error.read()
                if error.code not in RETRIED or attempt == self.retries:
                    raise ServerError(error.code, _details(text)) from None
            except (OSError, http.client.HTTPException):
                if not again or attempt == self.retries:
                    raise
        raise AssertionError

    def _path(self, rest: str) -> str:
        return f"/models/{quote(self.model, safe='')}{rest}"

    def _post(self, what: str, body: Any, key: str | None = None) -> dict[str, Any]:
        found: dict[str, Any] = self.request("POST", self._path(f"/{what}"), body, key)
        return found


def _details(text: bytes) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    return found if isinstance(found, dict) else {"error": text[:200].decode(errors="replace")}

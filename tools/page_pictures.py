"""Pictures of the server's page for the docs: light, dark, and as on a telephone.

    python tools/page_pictures.py docs/images

It needs Chromium and playwright. A stream of made-up demand for electricity is learned meanwhile.
"""

import shutil
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import numpy as np
from playwright.sync_api import sync_playwright
from serving import served

from parsimon.client import Client, ServerError

PICTURES = {"light": ("light", 1200), "dark": ("dark", 1200), "narrow": ("light", 390)}


def demand(n, first, rng):
    """Return n hours of demand from an hour on."""
    hours = np.arange(first, first + n)
    temperature = 12 + 8 * np.sin(2 * np.pi * (hours / 24 - 0.3)) + rng.normal(size=n)
    weekend = hours // 24 % 7 > 4
    y = 50 + 20 * np.sin(2 * np.pi * (hours % 24 - 8) / 24) - 6 * weekend
    y += 0.8 * np.abs(temperature - 16) ** 1.4 + 2 * rng.normal(size=n)
    return [
        {
            "hour": float(hours[i] % 24),
            "temperature": float(temperature[i]),
            "weekend": bool(weekend[i]),
            "area": ("north", "south", "harbour")[i % 3],
            "demand": float(y[i]),
        }
        for i in range(n)
    ]


def stream(client, stopped):
    """Predict and label a few rows at a time. Some labels never come."""
    rng, first = np.random.default_rng(1), 600
    while not stopped.wait(0.1):
        rows = demand(8, first, rng)
        asked = [{k: v for k, v in row.items() if k != "demand"} for row in rows]
        found = client.predict(asked)
        client.label({f["id"]: r["demand"] for f, r in zip(found[:7], rows, strict=False)})
        first += 8


def main():
    """Write the pictures."""
    folder = Path(sys.argv[1])
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    with (
        tempfile.TemporaryDirectory() as store,
        sync_playwright() as started,
        served(store, target="demand", intervals=0.9) as (client, _),
    ):
        client.learn(demand(600, 0, np.random.default_rng(0)))
        small = Client(client.url, "small")
        small.create("demand", algorithm="krls", budget=80, shadow_of="default")
        client.snapshot("monday")
        try:
            client.learn([{**demand(1, 0, np.random.default_rng(0))[0], "hour": "noon"}])
        except ServerError as error:
            print(error)
        stopped = threading.Event()
        thread = threading.Thread(target=stream, args=(client, stopped))
        thread.start()
        page = started.chromium.launch(executable_path=browser, args=["--no-sandbox"]).new_page()
        page.goto(client.url)
        time.sleep(40)
        for name, (scheme, width) in PICTURES.items():
            page.emulate_media(color_scheme=scheme)
            page.set_viewport_size({"width": width, "height": 900})
            time.sleep(3)
            page.screenshot(path=folder / f"serve-{name}.png", full_page=True)
        stopped.set()
        thread.join()


if __name__ == "__main__":
    main()

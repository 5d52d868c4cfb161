"""The page of a server in a real browser."""

import shutil
import threading
import time

import pytest

pytest.importorskip("starlette", reason="the extra serve is not installed")
pytest.importorskip("playwright", reason="playwright is not installed")

from playwright.sync_api import sync_playwright
from serving import Process, example_rows, served

from parsimon.client import Client, ServerError
from parsimon.serving.security import Access

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
SECONDS = 20_000  # milliseconds to wait for something on the page


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as started:
        found = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture
def page(browser):
    """A page, with what its console says in `page.said`."""
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    found = context.new_page()
    found.said = []
    found.on("console", lambda message: found.said.append(f"{message.type}: {message.text}"))
    found.on("pageerror", lambda error: found.said.append(f"error: {error}"))
    yield found
    context.close()


class Stream:
    """Rows that are learned while a test runs."""

    def __init__(self, client):
        self.client, self.stopped, self.n = client, threading.Event(), 1000
        self.thread = threading.Thread(target=self.run, daemon=True)

    def run(self):
        while not self.stopped.wait(0.05):
            try:
                self.client.learn(example_rows(5, seed=self.n, start=self.n))
            except ServerError as error:
                assert error.status == 409  # paused
            self.n += 5

    def __enter__(self):
        self.thread.start()

    def __exit__(self, *_):
        self.stopped.set()
        self.thread.join()


def drawing(page, place):
    """What a chart shows."""
    page.wait_for_selector(f"#{place} svg polyline", timeout=SECONDS, state="attached")
    return page.eval_on_selector_all(
        f"#{place} svg polyline", "each => each.map((e) => e.getAttribute('points')).join('|')"
    )


def wait_for(page, expression):
    page.wait_for_function(expression, timeout=SECONDS)


def test_charts_move_while_a_stream_comes(tmp_path, page):
    with served(tmp_path, target="y", intervals=0.9) as (client, _):
        for first in range(0, 600, 200):
            client.learn(example_rows(200, seed=first, start=first), wait=True)
        client.snapshot("first")
        with Stream(client):
            page.goto(client.url)
            before = {place: drawing(page, place) for place in ("errors", "rows", "tiles")}
            for place, points in before.items():
                wait_for(
                    page,
                    f"() => [...document.querySelectorAll('#{place} svg polyline')]"
                    f".map((e) => e.getAttribute('points')).join('|') !== {points!r}",
                )
            wait_for(page, "() => document.querySelector('#rows svg polygon.band')")
            wait_for(page, "() => document.body.textContent.includes('drift since first')")
        text = page.inner_text("body")
        for expected in ("rows per second", "coverage, 90 % asked for", "centres", "megabytes"):
            assert expected in text
        assert page.locator("#shares .bars em").count() == 11
        assert page.locator("#relevance .bars em").count() == 3
        assert page.inner_text("#status") == "learning"
        assert page.said == []


def test_nothing_comes_from_elsewhere_and_it_fits_a_telephone(tmp_path, page):
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    with served(tmp_path, target="y") as (client, _):
        client.learn(example_rows(300), wait=True)
        for scheme, width in (("light", 1200), ("dark", 1200), ("light", 390), ("dark", 320)):
            page.emulate_media(color_scheme=scheme)
            page.set_viewport_size({"width": width, "height": 800})
            page.goto(client.url)
            drawing(page, "rows")
            assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.said == []
    assert asked and all(url.startswith((client.url, "data:")) for url in asked)


def test_buttons_work(tmp_path, page):
    with served(tmp_path, target="y") as (client, _):
        client.learn(example_rows(300), wait=True)
        page.goto(client.url)
        drawing(page, "rows")
        page.click("#pause")
        wait_for(page, "() => document.querySelector('#status').textContent === 'paused'")
        assert client.state()["paused"]
        page.click("text=Resume")
        wait_for(page, "() => document.querySelector('#status').textContent === 'learning'")
        assert not client.state()["paused"]
        page.click("#snapshot")
        wait_for(page, "() => document.querySelector('#snapshots').options.length === 1")
        kept = client.download()
        client.learn(example_rows(50, seed=1), wait=True)
        assert client.download() != kept
        page.on("dialog", lambda dialog: dialog.accept())
        page.click("#back")
        for _ in range(200):
            if client.download() == kept:
                break
            time.sleep(0.05)
        assert client.download() == kept
        with pytest.raises(ServerError):
            client.learn([{"n": "text", "a": 1.0, "b": 1.0, "y": 1.0}])
        wait_for(page, "() => document.querySelector('#refusals').textContent.includes('text')")
        assert page.said == []


def test_it_survives_a_restart_and_so_does_the_history(tmp_path, page):
    server = Process(tmp_path, "--target", "y")
    server.start()
    try:
        client = Client(server.url)
        for i in range(4):
            client.learn(example_rows(150, seed=i, start=150 * i), wait=True)
            time.sleep(1.05)  # a point of the history per second
        page.goto(server.url)
        drawing(page, "errors")
        history = client.request("GET", "/models/default/history")
        server.end()
        wait_for(page, "() => document.querySelector('#status').textContent === 'not connected'")
        server.start()
        wait_for(page, "() => document.querySelector('#status').textContent === 'learning'")
        again = client.request("GET", "/models/default/history")
        assert again["rows"] == history["rows"]
        assert again["points"][: len(history["points"])] == history["points"]
        page.reload()  # from the store alone
        drawing(page, "errors")
        drawing(page, "rows")
        with Stream(client):
            rows = client.state()["rows"]
            wait_for(page, f"() => !document.body.textContent.includes('row {rows}')")
    finally:
        server.kill()
    assert all("ERR_CONNECTION" in each or "ERR_EMPTY" in each for each in page.said)


def test_the_token_is_asked_for_once(tmp_path, page):
    token = "a-token-of-some-length"
    with served(tmp_path, access=Access(token=token), target="y") as (client, _):
        client.learn(example_rows(300), wait=True)
        page.goto(client.url)
        page.wait_for_selector("#ask[open]", timeout=SECONDS)
        page.fill("#token", token)
        page.click("#ask button")
        drawing(page, "rows")
        page.reload()
        drawing(page, "rows")
        assert not page.locator("#ask[open]").count()

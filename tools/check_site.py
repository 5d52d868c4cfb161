"""Check a built site: ``check_site.py build/docs``.

- All links within the site lead to a file, and to an anchor that exists.
- Every public name has a page of the reference.
- No page needs anything from another host, except links that a reader follows.
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from sphinx.util.inventory import InventoryFile

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs" / "_ext"))


class Page(HTMLParser):
    """The links, anchors and sources of a page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.anchors, self.sources = [], set(), []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        """Keep what the tag refers to and what it can be referred by."""
        values = dict(attrs)
        self.anchors |= {values[key] for key in ("id", "name") if values.get(key)}
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        elif tag == "link" and values.get("href") and "canonical" not in values.get("rel", ""):
            self.sources.append(values["href"])
        elif values.get("src"):
            self.sources.append(values["src"])


def html_files(folder):
    """Return the pages, without the templates that the theme leaves in _static."""
    return [path for path in sorted(folder.rglob("*.html")) if "_static" not in path.parts]


def broken_links(folder):
    """Yield a sentence for each link of a page that leads nowhere."""
    pages = {path.resolve(): Page(path.read_text()) for path in html_files(folder)}
    for path, page in pages.items():
        here = path.relative_to(folder.resolve())
        for target in page.links + page.sources:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                if target in page.sources and parts.scheme != "data":
                    yield f"{here}: needs {target}"
                continue
            found = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if found.is_dir():
                found /= "index.html"
            if not found.exists():
                yield f"{here}: {target} does not exist"
                continue
            anchors = pages[found].anchors if found in pages else {parts.fragment}
            if parts.fragment and unquote(parts.fragment) not in anchors:
                yield f"{here}: {target} has no such anchor"


def undocumented(folder):
    """Yield a sentence for each public name without a page."""
    from reference_lists import pages

    with (folder / "objects.inv").open("rb") as file:
        inventory = InventoryFile.load(file, "", lambda base, path: path)
    known = {name for kind, names in inventory.items() if kind.startswith("py:") for name in names}
    for page in pages():
        for name in page.names:
            if name not in known:
                yield f"{name} is not in the reference"
            elif not (folder / "api" / f"{name}.html").exists():
                yield f"{name} has no page"


def main(folder):
    """Print what is wrong, and return the exit code."""
    wrong = [*broken_links(folder), *undocumented(folder)]
    for line in sorted(set(wrong)):
        print(line)
    print(f"{folder}: {len(html_files(folder))} pages, {len(set(wrong))} problems")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))

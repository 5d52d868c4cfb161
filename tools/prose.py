"""Check the prose of the pages with proselint: ``prose.py [PAGES]``.

Code is blanked out first, with its lines kept, so that line numbers are right. `.proselintrc.json`
turns off what does not fit plain text files: typographic quotes and dashes, ranges of dates in the
form 1970-01-01, and the spelling of "centre", which is British in prose and American in names of
attributes. "Very" is allowed.
codespell checks the spelling, by the section of pyproject.toml.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = ("*.md", "docs/**/*.md", "benchmarks/README.md", "examples/**/*.md", ".github/*.md")
#: Pages that other files are copied to when the site is built.
MADE = ("docs/generated/", "docs/api/", "docs/gallery/")
#: Fenced and indented blocks, directives, code within a line, addresses, formulas.
CODE = re.compile(
    r"^```.*?^```[^\n]*$|(?<=\n\n)(^    [^\n]*\n)+|^:::+[^\n]*$|`[^`\n]*`|\]\([^)]*\)"
    r"|\$\$.+?\$\$|\$[^$]+\$",
    re.MULTILINE | re.DOTALL,
)


def blanked(text):
    """Return the text with code as a word of its own, in as many lines."""
    counts = iter(range(1_000_000))
    # A number, so that code beside code is no repetition.
    text = CODE.sub(lambda match: f" code{next(counts)} " + "\n" * match[0].count("\n"), text)
    text = re.sub(r"^#.*$", r"\g<0>.", text, flags=re.MULTILINE)  # a heading ends a sentence
    return text.replace("|", ";")


def main(names):
    """Check pages, all of them by default."""
    pages = sorted({path for pattern in PAGES for path in ROOT.glob(pattern)})
    pages = [path.relative_to(ROOT) for path in pages]
    pages = [Path(name) for name in names] or [
        path for path in pages if not path.as_posix().startswith(MADE)
    ]
    with tempfile.TemporaryDirectory() as folder:
        for page in pages:
            copy = Path(folder) / page
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(blanked((ROOT / page).read_text()))
        done = subprocess.run(
            [
                Path(sys.executable).with_name("proselint"),
                "--config",
                ROOT / ".proselintrc.json",
                "-o",
                "compact",
                "check",
                *(Path(folder) / page for page in pages),
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        said = (done.stdout + done.stderr).replace(str(Path(folder).resolve()) + "/", "")
    print(said.strip() or f"proselint: {len(pages)} pages, nothing found")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

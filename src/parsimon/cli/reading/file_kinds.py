"""The kind of a file by its first bytes, to name files that cannot be read."""

from __future__ import annotations

__all__ = ["looks_like", "why_unreadable"]

#: Kinds of files that hold no table that we can read, by their first bytes.
KINDS = {
    b"\x89PNG\r\n\x1a\n": "a PNG picture",
    b"\xff\xd8\xff": "a JPEG picture",
    b"GIF8": "a GIF picture",
    b"II*\x00": "a TIFF picture",
    b"MM\x00*": "a TIFF picture",
    b"%PDF-": "a PDF document",
    b"SQLite format 3\x00": "an SQLite database",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "an old Excel or Word file",
    b"\x89HDF\r\n\x1a\n": "an HDF5 file",
    b"\x93NUMPY": "a NumPy array",
    b"FEA1": "a Feather file of version 1",
    b"Obj\x01": "an Avro file",
    b"ORC": "an ORC file",
    b"RDX": "an R data file",
    b"<stata_dta>": "a Stata file",
    b"$FL": "an SPSS file",
    b"BZh": "a bzip2 archive",
    b"\xfd7zXZ\x00": "an xz archive",
    b"\x04\x22\x4d\x18": "an LZ4 archive",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive",
    b"Rar!\x1a\x07": "a RAR archive",
    b"\x7fELF": "a program",
    b"MZ\x90": "a program",
    b"<?xml": "an XML file",
    b"<!DOCTYPE html": "a web page",
    b"<!doctype html": "a web page",
    b"<html": "a web page",
}
#: The first bytes that a text table could have, too. These files must also have binary bytes.
LIKE_TEXT = (b"GIF8", b"FEA1", b"ORC", b"RDX", b"$FL", b"BZh")
#: Kinds of zip files, by names and texts near their beginning.
ZIPPED = {
    b"xl/": "an Excel workbook",
    b"[Content_Types].xml": "an Office file",
    b"opendocument.spreadsheet": "an OpenDocument spreadsheet",
    b".npy": "a NumPy archive",
}
#: Encodings other than UTF-8, by their byte order mark. Longer marks come first.
WIDE = {
    b"\xff\xfe\x00\x00": "UTF-32",
    b"\x00\x00\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}
READ = "CSV, JSON lines, Parquet or Arrow are read"


def why_unreadable(start: bytes) -> str | None:
    """Return why data that begins with these bytes cannot be read, or None if it can.

    >>> why_unreadable(b"%PDF-1.7")
    'is a PDF document, not a table: CSV, JSON lines, Parquet or Arrow are read'
    """
    for mark, name in WIDE.items():
        if start.startswith(mark):
            example = f"iconv -f {name.lower()} -t utf-8"
            return f"is {name} text: save it as UTF-8, for example with {example}"
    kind = _kind(start)
    if kind is not None:
        return f"is {kind}, not a table: {READ}"
    if b"\x00" in start[:4096] and not start.startswith((b"PAR1", b"ARROW1", b"\xff\xff\xff\xff")):
        return f"is not text, because it has NUL bytes: {READ}"
    return None


def looks_like(start: bytes) -> str:
    """Return what a file that begins with these bytes looks like.

    >>> looks_like(b"x,y\\n1,2\\n")
    'CSV'
    """
    if not start:
        return "an empty file"
    known = {
        b"\x1f\x8b": "gzip",
        b"\x28\xb5\x2f\xfd": "zstd",
        b"PAR1": "Parquet",
        b"ARROW1": "Arrow",
    }
    for mark, name in (known | WIDE | {b"\xff\xff\xff\xff": "Arrow"}).items():
        if start.startswith(mark):
            return f"{name} text" if mark in WIDE and name != "Arrow" else f"{name} data"
    kind = _kind(start)
    if kind is not None:
        return kind
    if b"\x00" in start[:4096]:
        return "unknown binary data"
    text = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith((b"{", b"[")):
        return "JSON"
    return (
        "CSV" if any(mark in text.split(b"\n")[0] for mark in (b",", b";", b"\t", b"|")) else "text"
    )


def _kind(start: bytes) -> str | None:
    if start.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return next((name for mark, name in ZIPPED.items() if mark in start), "a zip archive")
    if len(start) > 2 and start[0] == 0x80 and start[1] in range(2, 6):
        return "a Python pickle"
    if start[257:262] == b"ustar":
        return "a tar archive"
    if start[8:10] == b'{"' and int.from_bytes(start[:8], "little") < 1 << 40:
        return "a model file"
    binary = any(byte < 9 for byte in start[:4096])
    marks = (mark for mark in KINDS if start.startswith(mark) and (binary or mark not in LIKE_TEXT))
    return next((KINDS[mark] for mark in marks), None)

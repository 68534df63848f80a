"""What a file is that is no image we read, so that the message can say it."""

# By its first bytes.
OTHER_CONTENT = {
    b"PK\x03\x04": "a zip archive",
    b"\x1f\x8b": "a gzip archive",
    b"7z\xbc\xaf": "a 7z archive",
    b"Rar!": "a RAR archive",
    b"%PDF": "a PDF",
    b"BM": "a BMP image",
    b"II*\0": "a TIFF image",
    b"MM\0*": "a TIFF image",
    b"<svg": "an SVG drawing",
    b"<?xml": "an XML file",
    b"<!DO": "a web page",
    b"<htm": "a web page",
}


def kind_of(data: bytes) -> str:
    return next(
        (kind for start, kind in OTHER_CONTENT.items() if data.startswith(start)),
        "something else or damaged",
    )

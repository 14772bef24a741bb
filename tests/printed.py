"""What stands on the pages of a PDF, as the engine of Chrome reads it."""

from __future__ import annotations

import io
import re

import pypdfium2


def text(paper: bytes) -> str:
    """All of it without spaces, as where a line or a word was broken does not matter."""
    with pypdfium2.PdfDocument(io.BytesIO(paper)) as document:
        pages = [one.get_textpage().get_text_bounded() for one in document]
    return bare("".join(pages))


def bare(said: str) -> str:
    """A text without its spaces."""
    return re.sub(r"\s+", "", said)

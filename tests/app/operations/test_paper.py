"""The guide's page of operations is that of the table."""

from __future__ import annotations

from tests.app.operations import paper


def test_the_page_has_the_operations_as_they_are() -> None:
    kept = paper.FILE.read_text("utf-8")
    assert kept == paper.text(), "Write it anew: python -m tests.app.operations.paper"

"""The JavaScript knows the shapes that the routes have."""

from __future__ import annotations

from tests.assets import answers


def test_the_shapes_are_those_of_the_routes() -> None:
    kept = answers.FILE.read_text("utf-8")
    assert kept == answers.text(), "Write them anew: python -m tests.assets.answers"

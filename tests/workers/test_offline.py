"""Ultralytics changes nothing for the rest of the house."""

from __future__ import annotations

from PIL import Image

from workers.models import offline


def test_pillow_still_opens_pictures_by_itself() -> None:
    offline.prepare()
    assert Image.open.__module__ == "PIL.Image"

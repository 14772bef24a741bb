"""A decoded picture made small, in colours that every screen shows."""

from __future__ import annotations

from PIL import Image


def plain(image: Image.Image) -> Image.Image:
    """The picture as grey or RGB of eight bits."""
    if image.mode in ("L", "RGB"):
        image.load()
        return image
    if image.mode.startswith("I"):
        return image.convert("I").point([value / 256 for value in range(65536)], "L")
    return image.convert("L" if image.mode in ("1", "LA", "La") else "RGB")


def shrunk(image: Image.Image, side: int) -> Image.Image:
    """The picture with at most `side` pixels a side."""
    # By a whole number first: far quicker, and all that is left to resize is small.
    small = plain(image).reduce(max(1, max(image.size) // side))
    small.thumbnail((side, side), Image.Resampling.BILINEAR)
    return small

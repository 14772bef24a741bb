"""Reads one picture for a detector: its header first, then as few pixels as the model needs."""

from __future__ import annotations

import io
import os
import struct
import warnings
from dataclasses import dataclass
from pathlib import Path

# cv2 reads this once, when it is imported; a small file may claim gigabytes of pixels.
os.environ.setdefault("OPENCV_IO_MAX_IMAGE_PIXELS", "200000000")

import cv2
import numpy as np
from PIL import Image, UnidentifiedImageError

from backend.errors import LoupeError, NotFound, Refused
from workers.families.base import Pixels

FORMATS = ("JPEG", "PNG", "WEBP", "BMP", "TIFF")
END = b"\xff\xd9"  # of a JPEG
FRAMES = frozenset((0xC0, 0xC1, 0xC2))  # baseline, extended and progressive
REDUCED = {
    8: cv2.IMREAD_REDUCED_COLOR_8,
    4: cv2.IMREAD_REDUCED_COLOR_4,
    2: cv2.IMREAD_REDUCED_COLOR_2,
}


class Unreadable(LoupeError):
    """The bytes are no picture, or not a whole one."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """Pixels, perhaps reduced, of a picture that is `width` × `height`."""

    pixels: Pixels
    width: int
    height: int


def read(source: str) -> bytes:
    """The bytes of a local file or of any URL that fsspec opens."""
    try:
        if "://" not in source:
            return Path(source).read_bytes()
        import fsspec  # takes a while, and most sources are files

        with fsspec.open(source, "rb") as stream:
            return bytes(stream.read())
    except FileNotFoundError as error:
        raise NotFound(f"{source} is not there any more.") from error
    except (OSError, ValueError, ImportError) as error:
        raise Unreadable(f"{source} cannot be read: {error}.") from error


def decode(data: bytes, name: str, wanted: int = 0, megapixels: int = 200) -> Decoded:
    """The picture in BGR, upright; with `wanted`, reduced as far as that size allows."""
    width, height, kind = _header(data, name, megapixels)
    factor = _factor(max(width, height), wanted) if kind in ("JPEG", "MPO") else 1
    flag = REDUCED.get(factor, cv2.IMREAD_COLOR)
    try:
        pixels = cv2.imdecode(np.frombuffer(data, np.uint8), flag)
    except cv2.error as error:
        raise Unreadable(f"{name} is broken: {error.err}.") from error
    if pixels is None:
        raise Unreadable(f"{name} is broken: its pixels cannot be decoded.")
    turned = (pixels.shape[1] > pixels.shape[0]) != (width > height)
    if turned:  # cv2 follows the EXIF orientation, the header does not
        width, height = height, width
    return Decoded(np.asarray(pixels, np.uint8), width, height)


def glance(data: bytes) -> tuple[int, int] | None:
    """Width and height of what is most probably a good JPEG or PNG, as its header has them."""
    if data.startswith(b"\x89PNG") and len(data) > 24:
        width, height = struct.unpack(">II", data[16:24])
        return (width, height) if width and height else None
    return _plain_jpeg(data)


def _factor(longest: int, wanted: int) -> int:
    return next((f for f in REDUCED if wanted and longest >= f * wanted), 1)


def _header(data: bytes, name: str, megapixels: int) -> tuple[int, int, str]:
    """Width, height and format, once nothing speaks against decoding."""
    if not data:
        raise Unreadable(f"{name} is empty: the file has no bytes.")
    plain = _plain_jpeg(data)
    if plain is not None and plain[0] * plain[1] <= megapixels * 1_000_000:
        _accept_end(data, name)
        return *plain, "JPEG"
    try:
        with warnings.catch_warnings(), Image.open(io.BytesIO(data), formats=FORMATS) as image:
            warnings.simplefilter("ignore")  # odd EXIF blocks and sizes warn; we judge them below
            _accept(image, data, name, megapixels)
            return image.width, image.height, str(image.format)
    except LoupeError:
        raise
    except (UnidentifiedImageError, ImportError) as error:  # ultralytics patches open: HEIF
        raise Unreadable(
            f"{name} is not a picture that Loupe reads: it takes {', '.join(FORMATS)}."
        ) from error
    except Image.DecompressionBombError as error:
        raise Refused(f"{name} is larger than any picture should be: {error}") from error
    except (OSError, ValueError, SyntaxError) as error:
        raise Unreadable(f"{name} is broken: {error}.") from error


def _accept(image: Image.Image, data: bytes, name: str, megapixels: int) -> None:
    if image.width * image.height > megapixels * 1_000_000:
        raise Refused(
            f"{name} has {image.width} × {image.height} pixels; at most {megapixels} megapixels "
            "are accepted (LOUPE_MAX_MEGAPIXELS)."
        )
    if image.format == "MPO" or image.format == "JPEG":
        _accept_jpeg(image, data, name)
        return
    if image.mode.startswith(("I", "F")) or _deep_png(image, data):
        raise Refused(f"{name} has 16 bits a channel; Loupe looks at 8. Convert it first.")
    if getattr(image, "is_animated", False):
        raise Refused(f"{name} is animated or has several pages; Loupe looks at single pictures.")
    if image.format == "PNG" and b"IEND" not in data[-4096:]:
        raise Unreadable(f"{name} is truncated: the end of the picture is missing.")


def _accept_jpeg(image: Image.Image, data: bytes, name: str) -> None:
    if image.mode == "CMYK":
        raise Refused(f"{name} is in CMYK, for print; Loupe looks at RGB and grey. Convert it.")
    _accept_end(data, name)


def _accept_end(data: bytes, name: str) -> None:
    # cv2 fills what is missing with grey and says nothing: the end mark must follow the last scan.
    if not data.endswith(END) and data.rfind(END) < data.rfind(b"\xff\xda"):
        raise Unreadable(f"{name} is truncated: the end of the picture is missing.")


def _plain_jpeg(data: bytes) -> tuple[int, int] | None:
    """Width and height of a JPEG in grey or colour; None for all that is worth a longer look."""
    if not data.startswith(b"\xff\xd8\xff"):
        return None
    at = 2
    while data[at : at + 1] == b"\xff" and len(data) > at + 9:
        kind, length = data[at + 1], int.from_bytes(data[at + 2 : at + 4], "big")
        if kind in FRAMES:
            depth, channels = data[at + 4], data[at + 9]
            size = struct.unpack(">HH", data[at + 5 : at + 9])
            return (size[1], size[0]) if depth == 8 and channels in (1, 3) and all(size) else None
        at += 2 + length
    return None


def _deep_png(image: Image.Image, data: bytes) -> bool:
    return image.format == "PNG" and data[24] == 16

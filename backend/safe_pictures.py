"""Looks at pictures that came from outside and hands back bytes that are safe to keep.

A picture is judged by what it decodes as, never by its name. Its header is read before anything
is decoded. Bytes that nothing has to change in stay as they are, and so keep their hash.
"""

from __future__ import annotations

import io
import struct
import threading
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageOps, UnidentifiedImageError

from backend import settings, shrinking
from backend.errors import Invalid

FORMATS = ("JPEG", "PNG", "WEBP", "BMP", "TIFF")
SUFFIXES = {"JPEG": ".jpg", "PNG": ".png", "WEBP": ".webp", "BMP": ".bmp", "TIFF": ".tif"}
KEPT_MODES = frozenset({"1", "L", "P", "RGB"})
LARGE = 24_000_000  # pixels; pictures above it are decoded one at a time, for the memory
SEEN = 2048  # what a screen shows of a picture; of a larger one, a small one is kept beside it
COLOUR = 1 << 24
_ORIENTATION = 0x0112
_SIDEWAYS = (5, 6, 7, 8)
_large = threading.Lock()
_BROKEN = (  # decoders raise whatever broken bytes lead them to
    OSError, EOFError, SyntaxError, ValueError, TypeError, AttributeError, LookupError,
    ArithmeticError, AssertionError, RuntimeError, struct.error, zlib.error,
)  # fmt: skip

# odd EXIF blocks and the like make Pillow warn; here the pixels decide
warnings.filterwarnings("ignore", module=r"PIL\.")


@dataclass(frozen=True, slots=True)
class PictureHeader:
    """What a picture's first bytes say; width and height as a person sees it, upright."""

    format: str
    width: int
    height: int
    mode: str
    orientation: int = 1

    @property
    def stored(self) -> tuple[int, int]:
        """Width and height as the pixels are stored, before any turning."""
        if self.orientation in _SIDEWAYS:
            return self.height, self.width
        return self.width, self.height


@dataclass(frozen=True, slots=True)
class Checked:
    """A picture that decodes to its end; `data` is what to keep.

    `small` is what this one decode leaves of a picture of more than `SEEN` pixels a side.
    """

    data: bytes
    header: PictureHeader
    changed: bool
    small: Image.Image | None = None


def header(source: IO[bytes] | str, name: str) -> PictureHeader:
    """What kind of picture this is and how large, without decoding it."""
    with _opened(source, name) as image:
        return _header(image, name)


def check(data: bytes, name: str) -> Checked:
    """Decode a picture to its end; turn it upright and drop its alpha where it has them."""
    if not data:
        raise Invalid(f"{name} is empty: the file has no bytes.")
    with _opened(io.BytesIO(data), name) as image:
        found = _header(image, name)
        if found.format == "PNG":
            _verify(data, name)
        if found.width * found.height < LARGE:
            return _checked(image, found, data, name)
        with _large:
            return _checked(image, found, data, name)


def upright(
    box: tuple[float, float, float, float], found: PictureHeader
) -> tuple[float, float, float, float]:
    """A box in the stored pixels of a turned picture, as it lies in the upright one."""
    x1, y1, x2, y2 = box
    width, height = found.stored
    turned = {
        2: (width - x2, y1, width - x1, y2),
        3: (width - x2, height - y2, width - x1, height - y1),
        4: (x1, height - y2, x2, height - y1),
        5: (y1, x1, y2, x2),
        6: (height - y2, x1, height - y1, x2),
        7: (height - y2, width - x2, height - y1, width - x1),
        8: (y1, width - x2, y2, width - x1),
    }
    return turned.get(found.orientation, box)


def values(
    source: IO[bytes] | str, name: str
) -> tuple[npt.NDArray[np.integer[Any]], dict[int, int] | None]:
    """A number for each pixel as it is stored: an index, a grey, or a colour (above `COLOUR`).

    With the colours of the indices, where the picture has a palette.
    """
    with _opened(source, name) as image:
        _header(image, name)
        if image.mode == "P":
            told = np.asarray(image.getpalette("RGB") or [], np.int32)
            colours = (told.reshape(-1, 3) @ (1 << 16, 1 << 8, 1)).tolist()
            return np.asarray(image), dict(enumerate(colours))
        if image.mode in ("1", "L", "I") or image.mode.startswith("I;"):
            return np.asarray(image.convert("L") if image.mode == "1" else image), None
        return _packed(np.asarray(image.convert("RGB"))), None


def _packed(pixels: npt.NDArray[np.uint8]) -> npt.NDArray[np.integer[Any]]:
    """Red, green and blue in one number above `COLOUR`; greys as they are, black is 0."""
    red, green, blue = pixels[..., 0], pixels[..., 1], pixels[..., 2]
    if np.array_equal(red, green) and np.array_equal(green, blue):
        return red.copy()
    whole = red.astype(np.int32)
    for channel in (green, blue):
        whole <<= 8
        whole |= channel
    whole[whole > 0] |= COLOUR
    return whole


@contextmanager
def opened(source: IO[bytes] | str, name: str) -> Iterator[tuple[Image.Image, PictureHeader]]:
    """A picture that may be decoded; everything that its decoder may throw is put in our words."""
    with _opened(source, name) as image:
        yield image, _header(image, name)


@contextmanager
def _opened(source: IO[bytes] | str, name: str) -> Iterator[Image.Image]:
    Image.MAX_IMAGE_PIXELS = settings.current().max_megapixels * 1_000_000
    try:
        with Image.open(source, formats=FORMATS) as image:
            yield image
    except Image.DecompressionBombError as error:
        raise Invalid(f"{name} is larger than any picture should be: {error}") from error
    except UnidentifiedImageError as error:
        raise Invalid(
            f"{name} is not a picture that Loupe reads: it takes {', '.join(FORMATS)}."
        ) from error
    except MemoryError as error:
        raise Invalid(f"{name} needs more memory than there is.") from error
    except _BROKEN as error:
        raise Invalid(f"{name} is broken: {str(error).rstrip('.')}.") from error


def _header(image: Image.Image, name: str) -> PictureHeader:
    width, height = image.size
    limit = settings.current().max_megapixels
    if width * height > limit * 1_000_000:
        raise Invalid(
            f"{name} has {width} × {height} pixels; at most {limit} megapixels are accepted "
            f"(LOUPE_MAX_MEGAPIXELS)."
        )
    orientation = _orientation(image)
    if orientation in _SIDEWAYS:
        width, height = height, width
    kind = "JPEG" if image.format == "MPO" else str(image.format)
    return PictureHeader(kind, width, height, image.mode, orientation)


def _verify(data: bytes, name: str) -> None:
    """Hold a PNG against its check sums, which decoding alone does not look at."""
    with _opened(io.BytesIO(data), name) as image:
        image.verify()


def _orientation(image: Image.Image) -> int:
    """The EXIF orientation, 1 (upright) where there is none or its block is unreadable."""
    try:
        found = image.getexif().get(_ORIENTATION, 1)
    except _BROKEN:  # of the block; the pixels may be whole
        return 1
    return found if found in range(1, 9) else 1


def _checked(image: Image.Image, found: PictureHeader, data: bytes, name: str) -> Checked:
    if _stays(image, found):
        if found.format == "JPEG":  # every byte is still read, at down to an eighth of the work
            side = SEEN if max(image.size) > SEEN else 1
            image.draft(image.mode, (side, side))
        image.load()
        return Checked(data, found, changed=False, small=_small(image, found))
    image.load()
    kept = _plain(ImageOps.exif_transpose(image) if found.orientation > 1 else image, name)
    header = PictureHeader(found.format, *kept.size, kept.mode, found.orientation)
    return Checked(_encoded(kept, found.format), header, changed=True, small=_small(kept, header))


def _small(image: Image.Image, found: PictureHeader) -> Image.Image | None:
    large = max(found.width, found.height) > SEEN
    return shrinking.shrunk(image, SEEN) if large else None


def _stays(image: Image.Image, found: PictureHeader) -> bool:
    moving = found.format != "JPEG" and getattr(image, "is_animated", False)
    seen_through = "transparency" in image.info
    return found.orientation == 1 and found.mode in KEPT_MODES and not moving and not seen_through


def _plain(image: Image.Image, name: str) -> Image.Image:
    """The same colours without alpha: grey stays grey, hidden colours come to light."""
    if image.mode.startswith("F"):
        raise Invalid(f"{name} has floating-point pixels; save it with 8 or 16 bits a channel.")
    if image.mode.startswith("I"):
        return _eight_bits(image)
    return image.convert("L" if image.mode in ("1", "L", "LA", "La") else "RGB")


def _eight_bits(image: Image.Image) -> Image.Image:
    """Grey of 16 bits as browsers and detectors decode it: the upper byte."""
    wide = image.convert("I")
    brightest = wide.getextrema()[1]
    if isinstance(brightest, int | float) and brightest > 255:
        wide = wide.point(lambda value: value * (1 / 256))
    return wide.convert("L")


def _encoded(image: Image.Image, kind: str) -> bytes:
    image.info.clear()
    options: dict[str, dict[str, Any]] = {
        "JPEG": {"quality": 95, "subsampling": 0},
        "WEBP": {"lossless": True},
        "TIFF": {"compression": "tiff_lzw"},
    }
    out = io.BytesIO()
    image.save(out, kind, **options.get(kind, {}))
    return out.getvalue()

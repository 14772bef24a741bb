"""What happens to the bytes of a picture that comes in."""

from __future__ import annotations

import io

import pytest
from PIL import Image

from backend import safe_pictures
from backend.errors import Invalid
from tests.backend.labels import drawn

ORIENTATIONS = range(1, 9)


def _saved(image: Image.Image, kind: str, **options: object) -> bytes:
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def _opened(data: bytes) -> Image.Image:
    return Image.open(io.BytesIO(data))


def _marked() -> Image.Image:
    """Black, 60 × 40, with a white block whose corners are (8, 4) and (24, 12)."""
    image = Image.new("L", (60, 40))
    image.paste(255, (8, 4, 24, 12))
    return image


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "BMP", "TIFF"])
def test_an_ordinary_picture_keeps_its_bytes(kind: str) -> None:
    data = drawn.picture(kind=kind, mode="RGB")
    checked = safe_pictures.check(data, "a")
    assert (checked.data, checked.changed) == (data, False)
    assert (checked.header.format, checked.header.width, checked.header.height) == (kind, 64, 48)


@pytest.mark.parametrize("mode", ["L", "1"])
def test_grey_stays_grey_to_the_byte(mode: str) -> None:
    data = drawn.picture(kind="PNG", mode=mode)
    checked = safe_pictures.check(data, "a")
    assert (checked.data, checked.header.mode) == (data, mode)


def test_alpha_is_dropped_and_what_it_hid_comes_to_light() -> None:
    image = Image.new("RGBA", (4, 4), (200, 100, 50, 0))
    checked = safe_pictures.check(_saved(image, "PNG"), "a")
    kept = _opened(checked.data)
    assert (checked.changed, kept.mode) == (True, "RGB")
    assert kept.getpixel((1, 1)) == (200, 100, 50)


def test_grey_with_alpha_becomes_grey() -> None:
    checked = safe_pictures.check(_saved(Image.new("LA", (4, 4), (77, 10)), "PNG"), "a")
    kept = _opened(checked.data)
    assert (kept.mode, kept.getpixel((0, 0))) == ("L", 77)


def test_a_transparent_colour_is_no_alpha_any_more() -> None:
    data = _saved(Image.new("RGB", (4, 4), (1, 2, 3)), "PNG", transparency=(1, 2, 3))
    kept = _opened(safe_pictures.check(data, "a").data)
    assert ("transparency" in kept.info, kept.getpixel((0, 0))) == (False, (1, 2, 3))


@pytest.mark.parametrize("orientation", ORIENTATIONS)
def test_a_turned_photo_is_set_upright_and_its_box_with_it(orientation: int) -> None:
    exif = Image.Exif()
    exif[0x0112] = orientation
    checked = safe_pictures.check(_saved(_marked(), "PNG", exif=exif), "a")
    kept = _opened(checked.data)
    assert checked.changed == (orientation > 1)
    assert kept.getexif().get(0x0112, 1) == 1 or not checked.changed
    assert kept.size == (checked.header.width, checked.header.height)
    assert checked.header.stored == (60, 40)
    assert kept.getbbox() == safe_pictures.upright((8, 4, 24, 12), checked.header)


def test_a_turned_jpeg_stays_a_jpeg_in_grey() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    checked = safe_pictures.check(_saved(_marked(), "JPEG", exif=exif), "a")
    kept = _opened(checked.data)
    assert (kept.format, kept.mode, kept.size) == ("JPEG", "L", (40, 60))


def test_cmyk_is_kept_as_rgb() -> None:
    checked = safe_pictures.check(_saved(Image.new("CMYK", (8, 8), (0, 255, 255, 0)), "JPEG"), "a")
    kept = _opened(checked.data).convert("RGB").getpixel((3, 3))
    assert isinstance(kept, tuple)
    assert kept[0] > 200 > 60 > kept[1]


def test_sixteen_bits_of_grey_become_the_upper_eight() -> None:
    image = Image.new("I;16", (4, 4), 0x8040)
    kept = _opened(safe_pictures.check(_saved(image, "PNG"), "a").data)
    assert (kept.mode, kept.getpixel((0, 0))) == ("L", 0x80)


def test_a_moving_picture_stands_still() -> None:
    frames = [Image.new("L", (8, 8), shade) for shade in (10, 250)]
    data = _saved(frames[0], "WEBP", save_all=True, append_images=frames[1:], lossless=True)
    kept = _opened(safe_pictures.check(data, "a").data)
    assert not getattr(kept, "is_animated", False)


def test_the_same_bytes_are_made_again_the_same() -> None:
    data = _saved(Image.new("RGBA", (40, 30), (9, 8, 7, 99)), "PNG")
    assert safe_pictures.check(data, "a").data == safe_pictures.check(data, "b").data


def test_a_header_is_read_without_decoding() -> None:
    data = drawn.picture(640, 480)
    found = safe_pictures.header(io.BytesIO(data[:800]), "a")
    assert (found.width, found.height, found.mode) == (640, 480, "L")


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "BMP", "TIFF"])
def test_every_beginning_of_a_picture_is_refused_or_whole(kind: str) -> None:
    data = drawn.picture(kind=kind)
    refused = 0
    for end in range(0, len(data) - 1, 7):
        try:
            checked = safe_pictures.check(data[:end], "cut.x")
        except Invalid:
            refused += 1
        else:
            _opened(checked.data).load()
    assert refused > len(data) // 7 // 2

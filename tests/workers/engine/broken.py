"""Files that are no ordinary picture, as they turn up among thousands."""

from __future__ import annotations

import io
import struct
import zlib

import cv2
import numpy as np
from PIL import Image


def files() -> dict[str, tuple[bytes, str]]:
    """By name: the bytes, and a pattern of the reason that a person is given."""
    random = np.random.default_rng(0)
    whole = cv2.imencode(".jpg", random.integers(0, 255, (90, 120, 3), np.uint8))[1].tobytes()
    frames = [Image.new("RGB", (20, 10)), Image.new("RGB", (20, 10), "red")]
    return {
        "truncated.jpg": (whole[: len(whole) // 2], "truncated"),
        "empty.jpg": (b"", "empty"),
        "text.jpg": (b"board 17, lot 4\n" * 40, "not a picture"),
        "bomb.png": (bomb(), "larger than any picture|megapixels are accepted"),
        "print.jpg": (_encoded(Image.new("CMYK", (20, 10)), "JPEG"), "CMYK"),
        "deep.png": (cv2.imencode(".png", np.zeros((9, 9, 3), np.uint16))[1].tobytes(), "16 bits"),
        "animated.webp": (_animated(frames), "animated"),
    }


def bomb() -> bytes:
    """A PNG of a few kilobytes that claims 20000² pixels."""

    def part(kind: bytes, data: bytes) -> bytes:
        crc = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + crc

    head = struct.pack(">IIBBBBB", 20000, 20000, 8, 0, 0, 0, 0)
    rows = zlib.compress(bytes(20001) * 20000, 9)
    return b"\x89PNG\r\n\x1a\n" + part(b"IHDR", head) + part(b"IDAT", rows) + part(b"IEND", b"")


def _encoded(image: Image.Image, kind: str) -> bytes:
    out = io.BytesIO()
    image.save(out, kind)
    return out.getvalue()


def _animated(frames: list[Image.Image]) -> bytes:
    out = io.BytesIO()
    frames[0].save(out, "WEBP", save_all=True, append_images=frames[1:])
    return out.getvalue()

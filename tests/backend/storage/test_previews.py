"""Smaller pictures: made once, right in every mode, kept within a bound."""

from __future__ import annotations

import io
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import psutil
import pytest
from PIL import Image

from backend.errors import Invalid, NotFound
from backend.previews import rendering
from backend.previews.previews import Previews, place
from backend.storage.files import Files
from tests.backend.formats import bad_files

PARENT = """
import io, sys, time
from pathlib import Path
import psutil
from PIL import Image
from backend.storage.files import Files
from backend.previews.previews import Previews

files = Files(sys.argv[1], Path(sys.argv[1]))
previews = Previews(files, Path(sys.argv[1]) / "pictures", 1e9, processes=1)
Image.new("L", (900, 900)).save(content := io.BytesIO(), "PNG")
previews.thumb(files.put(content.getvalue()))
print(*(one.pid for one in psutil.Process().children() if "spawn_main" in str(one.cmdline())))
sys.stdout.flush()
time.sleep(60)
"""


def until(true: Callable[[], bool]) -> None:
    """Wait for what other threads bring about."""
    end = time.monotonic() + 120
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


def held(folder: Path) -> int:
    return sum(path.stat().st_size for path in (folder / "pictures").rglob("*.jpg"))


@pytest.fixture
def previews(files: Files, tmp_path: Path) -> Iterator[Previews]:
    made = Previews(files, tmp_path / "pictures", 1e9, processes=1)
    yield made
    made.close()


def put(files: Files, image: Image.Image, kind: str = "PNG") -> str:
    stream = io.BytesIO()
    image.save(stream, kind)
    return files.put(stream.getvalue())


def board(width: int, height: int, mode: str = "RGB") -> Image.Image:
    """Left half dark, right half bright, in every mode."""
    grey = Image.new("L", (width, height), 40)
    grey.paste(220, (width // 2, 0, width, height))
    if mode == "I;16":
        return Image.fromarray(np.asarray(grey, np.uint16) * 256)
    return grey.convert(mode)


@pytest.mark.parametrize("mode", ["L", "RGB", "RGBA", "P", "1", "LA", "I;16", "CMYK"])
def test_a_thumbnail_of_every_mode_looks_like_the_picture(
    files: Files, previews: Previews, mode: str
) -> None:
    name = put(files, board(900, 600, mode), "TIFF" if mode == "CMYK" else "PNG")
    with Image.open(previews.thumb(name)) as small:
        assert small.size == (320, 213)
        grey = small.convert("L")
        pixels = grey.tobytes()
    dark, bright = pixels[100 * 320 + 60], pixels[100 * 320 + 260]
    assert bright - dark > 120


def test_a_small_picture_is_its_own_preview(files: Files, previews: Previews) -> None:
    name = put(files, board(640, 640))
    assert previews.preview(name) == previews.full(name) == files.local_path(name)


def test_a_large_picture_gets_a_preview_and_tiles_that_cover_it(
    files: Files, previews: Previews
) -> None:
    name = put(files, board(5000, 3000), "JPEG")
    with Image.open(previews.preview(name)) as preview:
        assert preview.size == (2048, 1229)
    corners = {(x, y): previews.tile(name, 1, x, y) for x in range(5) for y in range(3)}
    sizes = {at: rendering.glance(path)[1:] for at, path in corners.items()}
    assert sum(w * h for w, h in sizes.values()) == 2500 * 1500
    assert sizes[(4, 2)] == (2500 - 4 * 512, 1500 - 2 * 512)


def test_what_a_browser_cannot_show_becomes_png(files: Files, previews: Previews) -> None:
    name = put(files, board(300, 200), "TIFF")
    with Image.open(previews.full(name)) as shown:
        assert (shown.format, shown.size) == ("PNG", (300, 200))


def test_two_people_who_ask_at_once_wait_for_one_decode(files: Files, previews: Previews) -> None:
    name = put(files, board(3000, 2000), "JPEG")
    with ThreadPoolExecutor(8) as people:
        found = set(people.map(previews.preview, [name] * 8))
    (path,) = found
    assert [one.name for one in path.parent.iterdir()] == ["preview.jpg"]
    assert previews.begun == 1


def test_one_decode_serves_every_tile_of_every_level(files: Files, previews: Previews) -> None:
    name = put(files, board(5000, 3000), "JPEG")
    wanted = [(level, x, y) for level in (1, 0) for x in range(3) for y in range(2)]
    with ThreadPoolExecutor(len(wanted)) as people:
        found = list(people.map(lambda at: previews.tile(name, *at), wanted))
    assert len(set(found)) == len(wanted)
    assert all(rendering.glance(path)[1:] == (512, 512) for path in found)
    assert previews.begun == 1


def test_previews_are_made_ahead_of_the_first_who_looks(files: Files, previews: Previews) -> None:
    names = [put(files, board(3000 + n, 2000), "JPEG") for n in range(3)]
    previews.ahead(names)
    until(lambda: previews.begun == 6 and not previews.busy)
    for name in names:
        previews.thumb(name)
        previews.preview(name)
    assert previews.begun == 6


def test_a_file_that_is_no_picture_is_refused(files: Files, previews: Previews) -> None:
    for content in (b"<svg onload=alert(1)>", b"", b"\xff\xd8\xff\xe0 cut"):
        with pytest.raises(Invalid, match=r"is not a picture|is broken"):
            previews.thumb(files.put(content))
    with pytest.raises(NotFound):
        previews.thumb("0" * 64)


def test_previews_decode_what_pillow_would_and_loupe_does_not_take(
    files: Files, previews: Previews
) -> None:
    for kind in ("GIF", "ICO", "PPM", "EPS", "PDF"):
        with pytest.raises(Invalid, match="is not a picture that Loupe reads"):
            previews.thumb(put(files, board(40, 30), kind))


def test_a_picture_with_too_many_pixels_is_refused_undecoded(
    files: Files, previews: Previews
) -> None:
    name = files.put(bad_files.bomb())
    for look in (previews.thumb, previews.preview, previews.full):
        with pytest.raises(Invalid, match="20000 × 20000 pixels"):
            look(name)
    assert previews.begun == 0


def test_a_truncated_picture_is_refused_and_leaves_nothing(
    files: Files, previews: Previews, tmp_path: Path
) -> None:
    stream = io.BytesIO()
    board(3000, 2000).save(stream, "JPEG")
    name = files.put(stream.getvalue()[: len(stream.getvalue()) // 2])
    with pytest.raises(Invalid, match="is broken"):
        previews.thumb(name)
    assert not list((tmp_path / "pictures").rglob("*.jpg"))


def test_the_cache_stays_within_its_bound(files: Files, tmp_path: Path) -> None:
    small = Previews(files, tmp_path / "pictures", 400_000, processes=1)
    names = [put(files, Image.effect_noise((640, 640 + n), 60)) for n in range(8)]
    for name in names:
        small.thumb(name)
    until(lambda: 100_000 < held(tmp_path) <= 400_000 and not small.busy)
    small.close()


def test_tiles_are_dropped_before_the_previews_that_open_a_board(
    files: Files, tmp_path: Path
) -> None:
    names = [put(files, board(5000, 3000 + n), "JPEG") for n in range(5)]
    small = Previews(files, tmp_path / "pictures", 1e9, processes=1)
    open_board(small, names[0])
    small.close()
    bound = 2.5 * held(tmp_path)
    small = Previews(files, tmp_path / "pictures", bound, processes=1)
    for name in names[1:]:
        open_board(small, name)
    until(lambda: held(tmp_path) <= bound)
    before = small.begun
    for name in names:
        small.preview(name)
    assert small.begun == before
    left = [place(tmp_path / "pictures", name) / "tiles/complete" for name in names]
    assert [one.exists() for one in left] == [False, False, False, False, True]
    small.close()


def open_board(previews: Previews, name: str) -> None:
    """What a person sees of a board: its preview, then its pixels."""
    previews.preview(name)
    previews.tile(name, 0, 0, 0)
    until(lambda: not previews.busy)


def test_picture_processes_end_with_a_killed_parent(tmp_path: Path) -> None:
    command = [sys.executable, "-c", PARENT, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout
        children = [psutil.Process(int(pid)) for pid in parent.stdout.readline().split()]
        parent.kill()
    assert children
    assert psutil.wait_procs(children, timeout=60)[1] == []

"""Files that come with requests: bounded while they come, and gone where nobody keeps them."""

from __future__ import annotations

import hashlib
import secrets
import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from app import premises
from app.edge import pools
from app.operations.operation import Received
from app.premises import Premises
from backend import safe_pictures
from backend.errors import Invalid

MOST_OF_A_PICTURE = 64_000_000
# What a file is called until it is taken: whoever finds it so knows that nobody did.
BODY = "body"
LONGEST = 200  # bytes of a name: what file systems take


async def receive(at: Premises, project: str, parts: AsyncIterator[bytes]) -> Received:
    """The body of a request to a project as a file in a folder of its own."""
    folder = at.settings.uploads / f"sent-{secrets.token_hex(16)}"
    await pools.run(pools.ThreadPool.READ, _check, at, project, folder.name)
    folder.mkdir(parents=True)
    digest = hashlib.sha256()
    with ExitStack() as broken:
        broken.callback(shutil.rmtree, folder, ignore_errors=True)
        with (folder / BODY).open("wb") as out:
            async for part in parts:
                at.uploads.take(folder.name, len(part))
                digest.update(part)
                out.write(part)
        if not (folder / BODY).stat().st_size:
            raise Invalid("The body of the request is the file, and it is empty.")
        broken.pop_all()
    return Received(folder / BODY, digest.hexdigest())


def named(file: Received, name: str) -> Path:
    """The file under the name that says what it is."""
    plain = Path(name).name == name and name not in ("", ".", "..", BODY) and name.isprintable()
    if not plain or "\\" in name or len(name.encode()) > LONGEST:
        raise Invalid(f"{name[:100]!r} is not a name that a file may have here.")
    return file.path.rename(file.path.with_name(name))


def picture(file: Received, name: str, folder: Path) -> Path:
    """The file as a picture to be tried, under the ending of what it is."""
    size = file.path.stat().st_size
    if size > MOST_OF_A_PICTURE:
        raise Invalid("The picture is larger than 64 MB; import it into the project instead.")
    kind = safe_pictures.header(str(file.path), name[:100]).format
    folder.mkdir(parents=True, exist_ok=True)
    path = file.path.rename(folder / f"{secrets.token_hex(8)}{safe_pictures.SUFFIXES[kind]}")
    file.path.parent.rmdir()
    return path


def drop(file: Received | None) -> None:
    """Nobody needs the file."""
    if file is not None:
        shutil.rmtree(file.path.parent, ignore_errors=True)


def _check(at: Premises, project: str, name: str) -> None:
    """Whether there is such a project, and room, before anything is read."""
    with at.read() as session:
        premises.project(session, project)
    at.uploads.begin(name)


@contextmanager
def dropped_unless_kept(file: Received | None) -> Iterator[None]:
    """What is refused leaves no file."""
    with ExitStack() as refused:
        refused.callback(drop, file)
        yield
        refused.pop_all()

"""Pictures are asked for by their content, not by what is in the database: who sees them.

The store keeps other things, too; only what came in as a picture is ever decoded.
"""

from __future__ import annotations

from fastapi import Depends, Request

from app import premises
from app.edge import pools
from backend.errors import NotFound
from backend.projects import members

FILE = "file"


async def checked(request: Request, at: premises.At) -> None:
    """Refuse the picture of an address that is in no project which the person may enter."""
    if FILE in request.path_params:
        await pools.run(pools.ThreadPool.READ, _check, at, request.path_params[FILE])


CHECKED = Depends(checked)


def _check(at: premises.Premises, sha256: str) -> None:
    with at.read() as session:
        if not members.sees_file(session, sha256):
            raise NotFound("There is no such picture, or you may not see it.")

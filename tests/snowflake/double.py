"""What Snowflake's emulator lacks, answered before it is asked.

LIST of a path, GET, REMOVE, and PUT to a place that stands in quotes; models are in
`tests.snowflake.registry`.

Snowflake's own connector talks to it and moves the files. Each answer stands on a sentence of
Snowflake's documentation, which stands beside it.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import json
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fakesnow.server import app as emulator
from fakesnow.server import sessions
from fakesnow.transforms import stage
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tests.snowflake import registry

HELD = "held"  # as long as this is in that folder, nothing is handed out
# A model of the name that stands in this file is made, and its maker gets no answer as long as the
# file is there; the one beside it says that it was made.
UNANSWERED, MADE = "unanswered", "made"
FETCHED = "fetched.log"  # what was handed out, a line a file, in the folder that it runs in
WORDS = re.compile(r"\s*(LIST|LS|GET|REMOVE|RM)\s+('(?:[^'\\]|\\.|'')*'|\S+)(.*)", re.I | re.S)
# "If the stage name or path includes spaces or special characters, it must be enclosed in single
# quotes": sql/put. The emulator takes none in quotes.
PUT = re.compile(r"\s*(PUT)\s+('(?:[^'\\]|\\.|'')*')\s+('(?:[^'\\]|\\.|'')*')(.*)", re.I | re.S)
PATTERN = re.compile(r"PATTERN\s*=\s*('(?:[^'\\]|\\.|'')*')", re.I)
STAGES = (
    "SELECT 1 FROM _fs_global._fs_information_schema._fs_stages "
    "WHERE database_name = ? AND schema_name = ? AND name = ?"
)
MODELS = registry.Models()
PART = re.compile(r'"((?:[^"]|"")*)"|([^./"]+)')


def _app(behind: ASGIApp) -> ASGIApp:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not scope["path"].endswith("/query-request"):
            await behind(scope, receive, send)
            return
        body = await _body(receive)
        sql = _sql(scope, body)
        if put := PUT.fullmatch(sql):
            answer = _taken_in(scope, _text(put[2]), _text(put[3]))
        elif known := MODELS.answer(sql, lambda one: _folder(scope, one)):
            answer = _refusal(known) if isinstance(known, str) else _rows(*known)
            await _unanswered(sql)
        elif found := WORDS.fullmatch(sql):
            while found[1].upper() == "GET" and Path(HELD).exists():
                await asyncio.sleep(0.02)
            answer = _answer(scope, found[1].upper(), _text(found[2]), found[3])
        else:
            await behind(scope, _again(body), send)
            return
        headers = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": json.dumps(answer).encode()})

    return app


async def _unanswered(sql: str) -> None:
    held = Path(UNANSWERED)
    if sql.startswith("CREATE MODEL") and held.exists() and held.read_text() in sql:
        Path(MADE).touch()
        while held.exists():
            await asyncio.sleep(0.02)


def _folder(scope: Scope, reference: str) -> Path:
    """Where the files of a place lie."""
    root, prefix, _ = _place(scope, reference)
    return root / prefix


def _answer(scope: Scope, word: str, reference: str, rest: str) -> dict[str, Any]:
    root, prefix, shown = _place(scope, reference)
    if shown and not _is_there(scope, root):
        return _refusal(f"Stage '{reference[:80]}' does not exist or not authorized.")
    told = PATTERN.search(rest)
    files = list(_files(root, prefix, _text(told[1]) if told else ".*"))
    if word in ("LIST", "LS"):
        return _rows([_listed(root, shown, name) for name in files], LISTED)
    if word == "GET":
        return _handed_out(root, files, rest)
    # "Removes files that have been staged (i.e. uploaded from a local file system …)": sql/remove.
    for name in files:
        (root / name).unlink()
    return _rows([[shown + name, "removed"] for name in files], ("name", "result"))


# "The command returns the following columns: name, size, md5, last_modified": sql/list.
LISTED = ("name", "size", "md5", "last_modified")


def _listed(root: Path, shown: str, name: str) -> list[str]:
    facts = (root / name).stat()
    # "The MD5 column stores an MD5 hash of the contents of the staged data file": sql/list.
    digest = hashlib.md5((root / name).read_bytes(), usedforsecurity=False).hexdigest()
    moment = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(facts.st_mtime))
    return [shown + name, str(facts.st_size), digest, moment]


def _handed_out(root: Path, files: list[str], rest: str) -> dict[str, Any]:
    # "file://local_directory_path: the local directory path on the client machine where the files
    # are downloaded. If the directory path includes special characters, the entire file URI must
    # be enclosed in single quotes": sql/get.
    target = re.match(r"\s*('(?:[^'\\]|\\.|'')*'|\S+)", rest)
    folder = _text(target[1] if target else "").removeprefix("file://")
    with Path(FETCHED).open("a") as log:
        log.writelines(f"{name}\n" for name in files)
    data = {
        "command": "DOWNLOAD",
        "src_locations": files,
        "localLocation": folder,
        "stageInfo": {"locationType": "LOCAL_FS", "location": str(root), "creds": {}},
        # "PARALLEL: … Default: 10": sql/get.
        "parallel": 10,
        "encryptionMaterial": [],
    }
    return {"data": data, "success": True}


def _taken_in(scope: Scope, source: str, reference: str) -> dict[str, Any]:
    root, prefix, _ = _place(scope, reference)
    (root / prefix).mkdir(parents=True, exist_ok=True)
    data = {
        "command": "UPLOAD",
        "src_locations": [source.removeprefix("file://")],
        "stageInfo": {"locationType": "LOCAL_FS", "location": str(root / prefix), "creds": {}},
        "parallel": 4,
        "autoCompress": False,
        "sourceCompression": "none",
        "overwrite": True,
    }
    return {"data": data, "success": True}


def _files(root: Path, prefix: str, pattern: str) -> Iterator[str]:
    """The files of a stage that begin so, by their names in it."""
    # "path is an optional case-sensitive path for files in the cloud storage location (i.e. files
    # have names that begin with a common string) that limits access to a set of files": sql/list.
    for folder, _, names in sorted(os.walk(root)):
        for name in sorted(names):
            inside = Path(folder, name).relative_to(root).as_posix()
            # "The command lists all files in the specified path and applies the regular expression
            # pattern on each of the files found": sql/get.
            if inside.startswith(prefix) and re.fullmatch(pattern, inside):
                yield inside


def _place(scope: Scope, reference: str) -> tuple[Path, str, str]:
    """Where a stage's files lie, the path in it, and what stands before them in a LIST."""
    session = sessions[_token(scope)]
    # "@[namespace.]int_stage_name[/path] … If the stage name or path includes spaces or special
    # characters, it must be enclosed in single quotes (e.g. '@"my stage"')": sql/get.
    rest, parts = reference.removeprefix("@"), []
    while found := PART.match(rest):
        parts.append((found[1] or "").replace('""', '"') or (found[2] or "").upper())
        rest = rest[found.end() :]
        if not rest.startswith("."):
            break
        rest = rest[1:]
    whole = [session.database or "", session.schema or ""][: 3 - len(parts)] + parts
    root = Path(stage.internal_dir(".".join(whole)))
    shown = "" if whole[2].startswith("%") else f"{whole[2].lower()}/"
    return root, rest.removeprefix("/"), shown


def _is_there(scope: Scope, root: Path) -> bool:
    told = sessions[_token(scope)]._duck_conn.cursor().execute(STAGES, root.parts[-3:])
    return told.fetchone() is not None


def _rows(rows: list[list[str]], names: tuple[str, ...]) -> dict[str, Any]:
    kinds = [
        {"name": name, "type": "text", "length": 1 << 24, "byteLength": 1 << 24, "nullable": True,
         "scale": None, "precision": None, "database": "", "schema": "", "table": ""}
        for name in names
    ]  # fmt: skip
    data = {"rowtype": kinds, "rowset": rows, "total": len(rows), "queryResultFormat": "json",
            "queryId": "00000000-0000-0000-0000-000000000000", "parameters": []}  # fmt: skip
    return {"data": data, "success": True}


def _refusal(message: str) -> dict[str, Any]:
    data = {"errorCode": "002003", "sqlState": "02000"}
    return {"data": data, "code": "002003", "message": message, "success": False}


def _text(literal: str) -> str:
    """A literal of SQL as what it says."""
    if not literal.startswith("'"):
        return literal
    plain = literal[1:-1].replace("''", "'")
    return re.sub(r"\\(.)", lambda one: {"n": "\n", "t": "\t"}.get(one[1], one[1]), plain)


def _token(scope: Scope) -> str:
    told = dict(scope["headers"])[b"authorization"].decode()
    return str(told).removeprefix('Snowflake Token="').removesuffix('"')


def _sql(scope: Scope, body: bytes) -> str:
    packed = dict(scope["headers"]).get(b"content-encoding") == b"gzip"
    told = json.loads(gzip.decompress(body) if packed else body)
    return str(told.get("sqlText", ""))


async def _body(receive: Receive) -> bytes:
    body, more = b"", True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    return body


def _again(body: bytes) -> Receive:
    """What was read, for who reads it next."""

    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    return receive


app = _app(emulator)

"""The process that has imported our program, and copies itself for each command asked for."""

from __future__ import annotations

import importlib
import json
import os
import select
import socket
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NoReturn

from app import cli, server

LARGEST = 1_000_000


def main(wire: int) -> None:
    """Copy until who asks is gone, and tell how each copy ended."""
    for room in server.ROOMS:
        importlib.import_module(f"app.routes.{room}")
    asking = socket.socket(fileno=wire)
    telling: dict[int, tuple[int, socket.socket]] = {}  # by the descriptor of a process
    while True:
        ready = select.select([asking, *telling], [], [])[0]
        for ended in telling.keys() & set(ready):
            _tell(ended, *telling.pop(ended))
        if asking in ready:
            message, files, _, _ = socket.recv_fds(asking, LARGEST, 3)
            if not message:
                return
            line = socket.socket(fileno=files.pop())
            lines = [one for _, one in telling.values()]
            pid = _copy(json.loads(message), files, [asking, line, *lines])
            telling[os.pidfd_open(pid)] = (pid, line)
            line.send(str(pid).encode())
            for file in files:
                os.close(file)


def _tell(watched: int, pid: int, line: socket.socket) -> None:
    os.close(watched)
    _, status = os.waitpid(pid, 0)
    with line, suppress(OSError):  # nobody may listen any more
        line.send(str(os.waitstatus_to_exitcode(status)).encode())


def _copy(asked: Mapping[str, Any], files: list[int], ours: list[socket.socket]) -> int:
    pid = os.fork()
    if not pid:
        for one in ours:
            one.close()
        _become(asked, files)
    return pid


def _become(asked: Mapping[str, Any], files: list[int]) -> NoReturn:
    for at, file in enumerate(files, 1):
        os.dup2(file, at)
        os.close(file)
    os.environ.clear()
    os.environ.update(asked["environment"])
    os.chdir(asked["folder"])
    sys.argv = ["loupe", *asked["arguments"]]
    cli.main()
    sys.exit()


if __name__ == "__main__":
    main(int(sys.argv[1]))

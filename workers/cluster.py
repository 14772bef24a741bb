"""The Ray cluster: one of our own on this machine, or the one that LOUPE_RAY_ADDRESS names.

As a program (`python -m workers.cluster FD`) it starts or joins the cluster for the worker and
describes it until the worker ends; a cluster of our own ends with it.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import socket
import subprocess
import sys
import time
from pathlib import Path
from threading import Thread
from typing import Any

import psutil

from backend import apart
from backend import settings as all_settings
from backend.errors import LoupeError, Refused, Unavailable
from backend.jobs import journal
from backend.projects import catalogue
from backend.settings import Settings
from workers import offline, scratch, wire
from workers.context import Context

QUIET = {
    # Under `uv run` Ray would build a second environment of 7 GB for its workers.
    "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_DEDUP_LOGS": "0",
    # A file of Ray's logs, and how many before it are kept; Ray's own bound is 3 GB each.
    "RAY_ROTATION_MAX_BYTES": "20000000",
    "RAY_ROTATION_BACKUP_COUNT": "1",
    "YOLO_VERBOSE": "false",
}
# How Ray tells of a cluster of another version: which it is, and which is ours.
VERSIONS = re.compile(r"Version mismatch.*?" + r"Ray: (\S+).*?Python: (\S+).*?" * 2, re.DOTALL)
# Ray's own way to stay on this machine, made for others than Linux: nobody else reaches a port.
LOOPBACK = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
OWN = {"include_dashboard": False}
STRANGER = """
import sys
from ray._raylet import GcsClient
from ray.exceptions import AuthenticationError
try:
    GcsClient(address=sys.argv[1])
except AuthenticationError:
    sys.exit(7)
"""
SENT_AWAY = 7  # what no Python ends with by itself
EVERY = 3.0
SWEEP = 60.0
LOOK = 0.5


def join(context: Context) -> Any:
    """Connect a job's process to the cluster; gives the `ray` module."""
    context.progress(None, "The cluster is getting ready")
    ready = context.cluster()
    if ready.get("token"):
        os.environ.update(LOOPBACK, RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=ready["token"])
    return connect(ready["address"], _title(context))


def _title(context: Context) -> str:
    """What people know a job by; Ray may still hold what an attempt before this one has named."""
    job, project = context.job, ""
    if job.project_id is not None:
        with context.database.read() as session:
            project = f" {catalogue.get(session, job.project_id).name},"
    again = f", attempt {job.attempt}" if job.attempt > 1 else ""
    return f"loupe{project} job {job.id} ({job.kind}){again}"


def connect(address: str, name: str = "loupe") -> Any:
    """Connect this process to a cluster; "local" starts one that ends with this process.

    By the name people know in Ray's own tools whose actors are whose.
    """
    prepare(address)
    if (door := _door(address)) and not _is_open(*door):
        raise Unavailable(f"{_named(address)} does not answer: nothing listens there.")
    import ray
    from ray._raylet import GcsClient  # type: ignore[attr-defined]

    if not ray.is_initialized():
        own = OWN | {"_temp_dir": str(scratch.own())} if address == "local" else {}
        try:
            if door:
                # It says whether the token is right; `ray.init` tells of a wrong one and of a
                # slow cluster alike that it timed out.
                GcsClient(address=address)
            # Ray lets its workers look for modules in the folder in which this is called.
            with contextlib.chdir(_empty()):
                ray.init(
                    address=address,
                    log_to_driver=False,
                    logging_level="ERROR",
                    namespace=name,
                    job_config=ray.job_config.JobConfig(metadata={"job_name": name}),
                    **own,
                )
        except (ConnectionError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
            raise _why_not(address, error) from error
    return ray


def _empty() -> Path:
    made = scratch.own() / "empty"
    made.mkdir(parents=True, exist_ok=True)
    return made


def stands() -> bool:
    """Whether the cluster that this process has joined, if any, still answers."""
    ray = sys.modules.get("ray")
    if ray is None or not ray.is_initialized():
        return True
    door = _door(str(ray.get_runtime_context().gcs_address))
    return door is None or _is_open(*door)


def describe(ray: Any) -> dict[str, Any]:
    """Nodes with their cores, GPUs and memory, how much is free, and whose actors they carry."""
    from ray._private import state  # Ray tells this publicly only where its dashboard runs

    free, carried = state.available_resources_per_node(), _carried(state)
    nodes = [
        {
            **_node(node),
            "free": _amounts(free.get(node["NodeID"], {})),
            "actors": carried.get(node["NodeID"], {}),
        }
        for node in ray.nodes()
        if node["Alive"]
    ]
    return {"nodes": nodes, "free": _amounts(ray.available_resources())}


def _carried(state: Any) -> dict[str, dict[int, int]]:
    """For each node how many actors it carries for each process that has joined the cluster."""
    drivers = {job["JobID"]: int(job["DriverPid"]) for job in state.jobs()}
    found: dict[str, dict[int, int]] = {}
    for actor in state.actors().values():
        if actor["State"] == "ALIVE":
            node = found.setdefault(actor["Address"]["NodeID"], {})
            driver = drivers.get(actor["JobID"], 0)
            node[driver] = node.get(driver, 0) + 1
    return found


def main(descriptor: int) -> None:
    """Start or join, say where, and describe until the wire is cut."""
    scratch.move_in()
    line = wire.JobEnd(descriptor)
    line.listen()
    settings = all_settings.current()
    wire.write_to(journal.cluster_log_path(settings.home))
    try:
        ray = connect(settings.ray_address or "local")
        _refuse_open(settings, ray)
    except (Refused, Unavailable) as error:
        line.say({"error": str(error), "for_good": isinstance(error, Refused)})
        return
    line.say(_ready(settings, ray))
    if not settings.ray_address:
        Thread(target=_fall, args=(_vital(),), name="vital", daemon=True).start()
    _watch(line, ray)
    ray.shutdown()


def _watch(line: wire.JobEnd, ray: Any) -> None:
    """Describe it until the wire is cut, and keep what Ray writes within its bound."""
    swept, taken = -SWEEP, 0.0
    while True:
        if time.monotonic() >= swept + SWEEP:
            swept, taken = time.monotonic(), round(scratch.sweep() / 1e6, 1)
        line.say({**describe(ray), "temp_mb": taken})
        if line.stopping.wait(EVERY):
            return


def _refuse_open(settings: Settings, ray: Any) -> None:
    """Whoever reaches a cluster that asks for no token can run anything on all of its machines.

    A stranger goes to where we are: an address may be one that Ray alone can read, as "auto".
    """
    if not settings.ray_address or settings.ray_open:
        return
    if not asks(str(ray.get_runtime_context().gcs_address)):
        raise Refused(
            f"{_named(settings.ray_address)} asks nobody for a token, so whoever reaches it can "
            "run anything on it: start it with one, or allow it with LOUPE_RAY_OPEN=true."
        )


def asks(address: str) -> bool:
    """Whether a stranger is sent away, tried by a process that shows no token, if we have one."""
    # In this mode Ray has found one where we do not look, as in a pod, or we had not come in.
    if not _has_token() and os.environ.get("RAY_AUTH_MODE") != "token":
        return False
    bare = {name: value for name, value in os.environ.items() if not name.startswith("RAY_AUTH")}
    tried = subprocess.run(
        apart.line(STRANGER, address),
        env={**bare, "RAY_AUTH_MODE": "disabled"},
        stdout=subprocess.DEVNULL,
        check=False,
    )
    if tried.returncode not in (0, SENT_AWAY):
        raise Unavailable(
            f"The Ray cluster at {address} did not answer who showed it no token; what Ray says "
            "of that stands in logs/cluster.log."
        )
    return tried.returncode == SENT_AWAY


def _fall(vital: list[psutil.Process]) -> None:
    """End with the first vital part: who asks what is left of a cluster waits for a minute."""
    while all(_lives(process) for process in vital):
        time.sleep(LOOK)
    os._exit(1)


def _vital() -> list[psutil.Process]:
    """The processes without which our own cluster is dead, though Ray notices it late."""
    children = psutil.Process().children(recursive=True)
    return [process for process in children if process.name() in ("gcs_server", "raylet")]


def _lives(process: psutil.Process) -> bool:
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def _ready(settings: Settings, ray: Any) -> dict[str, str]:
    if settings.ray_address:
        return {"address": settings.ray_address}
    address = str(ray.get_runtime_context().gcs_address)
    return {"address": address, "token": os.environ["RAY_AUTH_TOKEN"]}


def prepare(address: str) -> None:
    """Ray reads these when it is imported and hands them on to its own processes."""
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    os.environ.update(offline.WALLS)
    apart.shut()
    if address == "local":
        # Whoever can reach an open cluster can run anything on it. A process keeps its first token.
        os.environ.update(LOOPBACK, RAY_AUTH_MODE="token")
        os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
    elif _has_token():
        os.environ.setdefault("RAY_AUTH_MODE", "token")


def _has_token() -> bool:
    path = os.environ.get("RAY_AUTH_TOKEN_PATH") or Path.home() / ".ray" / "auth_token"
    return "RAY_AUTH_TOKEN" in os.environ or Path(path).is_file()


def _node(node: dict[str, Any]) -> dict[str, Any]:
    kind = node.get("Labels", {}).get("ray.io/node-type", "")
    return {"name": node["NodeManagerHostname"], "kind": kind, **_amounts(node["Resources"])}


def _amounts(resources: dict[str, float]) -> dict[str, float]:
    return {
        "cores": resources.get("CPU", 0.0),
        "gpus": resources.get("GPU", 0.0),
        "memory_gb": round(resources.get("memory", 0.0) / 1e9, 1),
    }


def _why_not(address: str, error: Exception) -> LoupeError:
    """Only a cluster that answers can refuse; one that is silent may just be slow."""
    if address == "local":
        return Unavailable(f"The Ray cluster could not be started on this machine: {error}")
    if type(error).__name__ == "AuthenticationError":
        what = "refuses this machine's token" if _has_token() else "asks for a token"
        where = "RAY_AUTH_TOKEN or ~/.ray/auth_token"
        return Refused(f"{_named(address)} {what}: put the cluster's own into {where}.")
    if found := VERSIONS.search(str(error)):
        theirs, python, ours, own = found.groups()
        return Refused(
            f"{_named(address)} runs Ray {theirs} on Python {python}, this machine Ray {ours} on "
            f"Python {own}: both must be of the same version."
        )
    first = (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
    return Unavailable(f"{_named(address)} does not answer: {first}.")


def _named(address: str) -> str:
    return f"The Ray cluster at {address} (setting LOUPE_RAY_ADDRESS)"


def _door(address: str) -> tuple[str, int] | None:
    """The host and port of a plain address; Ray knows others, such as "auto"."""
    host, _, port = address.rpartition(":")
    return (host, int(port)) if host and "/" not in host and port.isdecimal() else None


def _is_open(host: str, port: int) -> bool:
    """Whether something listens there; Ray itself takes a minute to say no."""
    try:
        with socket.create_connection((host, port), timeout=5):
            return True
    except OSError:
        return False


if __name__ == "__main__":
    main(int(sys.argv[1]))
    os._exit(0)

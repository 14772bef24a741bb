"""Commands that look at the workers and at what they do."""

from __future__ import annotations

import signal
import time
from typing import Annotated, Any

import typer

from app import terminal
from app.commands import tools
from app.terminal import AsJson
from backend.domain import Job
from backend.jobs import kinds, listing, presence, queue


def add_to(cli: typer.Typer) -> None:
    """Make these commands of `loupe`."""
    for command in (jobs, cancel, cluster, worker):
        cli.command()(command)


def jobs(
    watch: Annotated[bool, typer.Option("--watch", help="Show them until Ctrl+C.")] = False,
    limit: Annotated[int, typer.Option(help="How many.", min=1, max=1000)] = 20,
    kind: Annotated[str, typer.Option(help="Only this kind, such as train; try is left out.")] = "",
    as_json: AsJson = False,
) -> None:
    """List the newest jobs.

    Example: loupe jobs --watch
    """
    wanted = kinds.find(kind).name if kind else ""
    with tools.open_tools() as at:
        while True:
            with at.database.read.begin() as session:
                found = listing.find(session, kind=wanted, limit=limit)
            if as_json:
                terminal.document([_job(one) for one in found])
            else:
                terminal.clear(watch)
                columns = ("id", "kind", "state", "progress", "author", "message")
                rows = [{**_job(one), "progress": f"{one.progress:.0%}"} for one in found]
                terminal.table(columns, [[row[name] for name in columns] for row in rows])
            if not watch:
                return
            time.sleep(1)


def cancel(job: Annotated[int, typer.Argument(help="Number of the job.")]) -> None:
    """Cancel a job that waits or runs.

    Example: loupe cancel 12
    """
    with tools.open_tools() as at, at.database.write.begin() as session:
        queue.cancel(session, job, tools.me())
    terminal.say(f"Job {job} is being cancelled.")


def cluster(as_json: AsJson = False) -> None:
    """Show the workers that live, and the Ray cluster as they see it.

    Example: loupe cluster
    """
    with tools.open_tools() as at, at.database.read.begin() as session:
        found = presence.living(session)
    if as_json:
        terminal.document(
            [{"worker": one.name, "host": one.host, "pid": one.pid, **one.sees} for one in found]
        )
    elif not found:
        terminal.say("No worker is alive. Start one: loupe worker")
    for one in () if as_json else found:
        jobs = ", ".join(f"job {id}" for id in one.sees.get("jobs", [])) or "nothing"
        terminal.say(f"Worker on {one.host}, process {one.pid}, carries out {jobs}.")
        nodes = one.sees.get("nodes", [])
        if not nodes:
            terminal.say(
                "Ray is not needed yet: a training with several workers or a large detection "
                "starts it."
            )
            continue
        heads = ("node", "cores", "GPUs", "memory, GB", "free cores", "carries")
        terminal.table(heads, [_node(node) for node in nodes])


def worker(
    ray: Annotated[str, typer.Option(help="Address of a Ray cluster; default: a local one.")] = "",
) -> None:
    """Carry out jobs until told to stop; the site starts one by itself.

    Example: loupe worker --ray ray-head:6379
    """
    from app import worker_process

    tools.prepare()
    # A service manager's end is as gentle as Ctrl+C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with worker_process.beside({"LOUPE_RAY_ADDRESS": ray} if ray else None) as kept:
        terminal.say("A worker waits for jobs. Ctrl+C ends it.")
        try:
            while kept.process is not None:
                time.sleep(0.5)
        except KeyboardInterrupt:
            terminal.say("The worker hands back what it holds, and ends.")


def _job(one: Job) -> dict[str, Any]:
    return {
        "id": one.id,
        "kind": one.kind,
        "state": one.state.value,
        "progress": one.progress,
        "message": one.error or one.message,
        "author": one.author,
    }


def _node(node: presence.Node) -> list[Any]:
    plain = [node["name"], node["cores"], node["gpus"], node["memory_gb"]]
    ours = [f"job {job}: {count}" for job, count in node["jobs"].items()]
    others = [f"others: {node['others']}"] if node["others"] else []
    return [*plain, node["free"]["cores"], ", ".join(ours + others) or "nothing"]

"""Commands that ask the workers for something, and look at what they do."""

from __future__ import annotations

import time
from typing import Annotated, Any

import typer

from app import terminal
from app.commands import rooms, waiting
from app.terminal import AsJson
from backend.domain import Job
from backend.jobs import listing, presence, queue
from backend.services import detecting, projects

Project = Annotated[str, typer.Argument(help="Name of the project.")]
Wait = Annotated[bool, typer.Option("--wait", help="Follow the job to its end.")]


def add_to(cli: typer.Typer) -> None:
    """Make these commands of `loupe`."""
    for command in (detect, jobs, cancel, cluster, worker):
        cli.command()(command)


def detect(
    project: Annotated[str, typer.Argument(help="Name of the project; made for a --source.")],
    model: Annotated[
        str, typer.Option(help="vN, champion, golden (nothing trained) or a weights file.")
    ] = "champion",
    source: Annotated[
        str, typer.Option(help="A picture, a folder, a list or a URL; default: the project.")
    ] = "",
    state: Annotated[
        list[str] | None, typer.Option(help="Only images of the project in this state.")
    ] = None,
    split: Annotated[
        list[str] | None, typer.Option(help="Only images of the project of this split.")
    ] = None,
    conf: Annotated[
        float | None, typer.Option(help="Lowest score that counts.", min=0.0, max=1.0)
    ] = None,
    runtime: Annotated[str, typer.Option(help="openvino, torch …; default: the fastest.")] = "",
    precision: Annotated[str, typer.Option(help="bf16, int8, fp32; default: bf16.")] = "",
    again: Annotated[bool, typer.Option("--again", help="Look at known images again.")] = False,
    wait: Wait = False,
    as_json: AsJson = False,
) -> None:
    """Run a model over images; the results stand under Review.

    Example: loupe detect boards --model champion --wait
    """
    options = {"runtime": runtime, "precision": precision, "again": again, "confidence": conf}
    wanted = {name: value for name, value in options.items() if value not in ("", None, False)}
    with rooms.open_rooms() as at:
        with at.database.write.begin() as session:
            found = (projects.find_or_create if source else projects.find)(session, project)
            place = {"path": rooms.place(source)} if source else _among(state, split)
            job = detecting.ask(
                session, found.id, model, source=place, options=wanted, author=rooms.me()
            )
        if wait:
            job = waiting.follow(at, job, as_json)
    answer = {"run": job.id, **job.result} if wait else {"run": job.id, "job": job.id}
    _say(answer, as_json, _found(answer) if wait else f"Job {job.id} waits: loupe jobs --watch")


def jobs(
    watch: Annotated[bool, typer.Option("--watch", help="Show them until Ctrl+C.")] = False,
    limit: Annotated[int, typer.Option(help="How many.", min=1, max=1000)] = 20,
    as_json: AsJson = False,
) -> None:
    """List the newest jobs.

    Example: loupe jobs --watch
    """
    with rooms.open_rooms() as at:
        while True:
            with at.database.read.begin() as session:
                found = listing.find(session, limit=limit)
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
    with rooms.open_rooms() as at, at.database.write.begin() as session:
        queue.cancel(session, job, rooms.me())
    terminal.say(f"Job {job} is being cancelled.")


def cluster(as_json: AsJson = False) -> None:
    """Show the workers that live, and the Ray cluster as they see it.

    Example: loupe cluster
    """
    with rooms.open_rooms() as at, at.database.read.begin() as session:
        found = presence.living(session)
    rows = [
        {"worker": one.name, "host": one.host, "pid": one.pid, **one.description} for one in found
    ]
    if as_json:
        terminal.document(rows)
    elif not rows:
        terminal.say("No worker is alive. Start one: loupe worker")
    for row in () if as_json else rows:
        terminal.say(f"Worker on {row['host']}, process {row['pid']}.")
        nodes = row.get("nodes", [])
        if not nodes:
            terminal.say("Ray is not started yet; the first training starts it.")
            continue
        columns = ("name", "cores", "gpus", "memory_gb")
        heads = ("node", "cores", "GPUs", "memory, GB")
        terminal.table(heads, [[node.get(name, "") for name in columns] for node in nodes])


def worker(
    ray: Annotated[str, typer.Option(help="Address of a Ray cluster; default: a local one.")] = "",
) -> None:
    """Carry out jobs until told to stop; the site starts one by itself.

    Example: loupe worker --ray ray-head:6379
    """
    from app import worker_process

    rooms.prepare()
    with worker_process.beside({"LOUPE_RAY_ADDRESS": ray} if ray else None) as kept:
        terminal.say("A worker waits for jobs. Ctrl+C ends it.")
        try:
            while kept.process is not None:
                time.sleep(0.5)
        except KeyboardInterrupt:
            terminal.say("The worker hands back what it holds, and ends.")


def _among(states: list[str] | None, splits: list[str] | None) -> dict[str, list[str]]:
    return {name: values for name, values in (("states", states), ("splits", splits)) if values}


def _say(answer: dict[str, Any], as_json: bool, sentence: str) -> None:
    if as_json:
        terminal.document(answer)
    else:
        terminal.say(sentence)


def _found(answer: dict[str, Any]) -> str:
    return (
        f"Run {answer['run']}: {answer.get('detections', 0):,} detections in "
        f"{answer.get('images', 0):,} images, {answer.get('failed', 0):,} unreadable, "
        f"{answer.get('images_per_second', 0):,.0f} images/s."
    )


def _job(one: Job) -> dict[str, Any]:
    return {
        "id": one.id,
        "kind": one.kind,
        "state": one.state.value,
        "progress": one.progress,
        "message": one.error or one.message,
        "author": one.author,
    }

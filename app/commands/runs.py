"""Commands that run a model over pictures: those of a project, of a place, or as they arrive."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer
from sqlalchemy.orm import Session

from app import terminal
from app.commands import tools
from app.commands.jobs import waiting
from app.terminal import AsJson
from backend.domain import Job
from backend.errors import Invalid, Refused
from backend.incoming import stages
from backend.models import choice
from backend.projects import catalogue
from backend.runs import detection, documents, forecast
from backend.words import many

Model = Annotated[
    str, typer.Option(help="vN, champion, golden (nothing trained) or a weights file.")
]
Conf = Annotated[float | None, typer.Option(help="Lowest score that counts.", min=0.0, max=1.0)]
Runtime = Annotated[str, typer.Option(help="openvino, torch …; default: the fastest.")]
Precision = Annotated[str, typer.Option(help="bf16, int8, f32; default: bf16 where it is known.")]
Tiles = Annotated[
    str, typer.Option(help="Large pictures: auto, off (whole), on; default: as the project says.")
]
Out = Annotated[Path | None, typer.Option(help="Folder for a JSON file of each picture.")]
Of = Annotated[str, typer.Option("--project", help="The model's project, where it is not named.")]
REASONS = 8


def add_to(cli: typer.Typer) -> None:
    """Make these commands of `loupe`."""
    for command in (detect, watch):
        cli.command()(command)


def detect(
    subject: Annotated[
        str, typer.Argument(help="A project; or a picture, folder, list, URL or @STAGE.")
    ],
    model: Model = "champion",
    source: Annotated[
        str, typer.Option(help="A picture, folder, list, URL or @STAGE/path; default: the project.")
    ] = "",
    state: Annotated[
        list[str] | None, typer.Option(help="Only images of the project in this state.")
    ] = None,
    split: Annotated[
        list[str] | None, typer.Option(help="Only images of the project of this split.")
    ] = None,
    conf: Conf = None,
    runtime: Runtime = "",
    precision: Precision = "",
    tiles: Tiles = "",
    again: Annotated[bool, typer.Option("--again", help="Look at known images again.")] = False,
    device: Annotated[
        str, typer.Option(help="What each process computes on: auto, cpu or gpu.")
    ] = "",
    workers: Annotated[
        int | None, typer.Option(help="Processes; default: as many as there is room for.")
    ] = None,
    memory: Annotated[float | None, typer.Option(help="GB of memory for each process.")] = None,
    out: Out = None,
    project: Of = "",
    wait: Annotated[bool, typer.Option("--wait", help="Follow the job to its end.")] = False,
    as_json: AsJson = False,
) -> None:
    """Run a model over images; the results stand under Review.

    Example: loupe detect ./lot-7 --model champion --out found
    """
    asked_of = {"device": device, "workers": workers, "memory_gb": memory}
    options = _options(runtime, precision, conf, tiles=tiles, again=again, **asked_of)
    wait = wait or out is not None
    with tools.open_tools() as at:
        with at.database.write.begin() as session:
            found, place = _subject(session, subject, source, project, model)
            asked = {"path": place} if place else _among(state, split)
            told = forecast.sentences(session, found, model, asked, options)
            _make(out)
            job = detection.ask(
                session, found, model, source=asked, options=options, author=tools.me()
            )
        for sentence in () if as_json else told:
            terminal.warn(sentence)
        if wait:
            _follow(at, job, out, as_json)
        elif as_json:
            terminal.document({"run": job.id, "job": job.id})
        else:
            terminal.say(f"Job {job.id} waits: loupe jobs --watch")


def watch(
    folder: Annotated[Path, typer.Argument(help="The folder into which pictures arrive.")],
    model: Model = "champion",
    project: Of = "",
    conf: Conf = None,
    runtime: Runtime = "",
    precision: Precision = "",
    out: Out = None,
    detach: Annotated[
        bool, typer.Option("--detach", help="Leave the watch to the worker that is alive.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Look at every picture that arrives in a folder, each once, also across restarts.

    Example: loupe watch /data/aoi --model champion --out /data/aoi-found
    """
    if not folder.is_dir():
        raise Invalid(f"There is no folder {folder} to be watched.")
    options = _options(runtime, precision, conf)
    with tools.open_tools() as at:
        with at.database.write.begin() as session:
            found = _project(session, project, model)
            _make(out)
            job = detection.watch(
                session, found, model, folder, out=out, options=options, author=tools.me()
            )
        if as_json:
            terminal.document({"run": job.id, "job": job.id, "folder": str(folder)})
        if detach:
            terminal.warn(f"Job {job.id} watches {folder} until: loupe cancel {job.id}")
            return
        terminal.warn(
            f"Watching {folder} as run {job.id}. Ctrl+C pauses it; the same command goes on."
        )
        try:
            waiting.follow(at, job, as_json)
        except KeyboardInterrupt:
            terminal.warn(f"Run {job.id} keeps what it has seen. End it: loupe cancel {job.id}")


def _follow(at: tools.Tools, job: Job, out: Path | None, as_json: bool) -> None:
    """To the end of a run, and what it found."""
    job = waiting.to_the_end(at, job, as_json)
    with at.database.read.begin() as session:
        reasons = documents.failures(session, job.id, REASONS)
        if out is not None:
            _write(session, job.id, out)
    answer = {"run": job.id, **job.result}
    if as_json:
        terminal.document(answer)
        return
    terminal.say(_found(answer))
    _complain(reasons, answer.get("failed", 0))


def _make(out: Path | None) -> None:
    """The folder of the results, before a run is made for it."""
    if out is None:
        return
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Refused(f"The folder {out} cannot be made: {error.strerror}.") from error
    if not os.access(out, os.W_OK | os.X_OK):
        raise Refused(f"The folder {out} cannot be written into.")


def _write(session: Session, run_id: int, out: Path) -> None:
    try:
        documents.write(session, run_id, out)
    except OSError as error:
        raise Refused(
            f"The results of run {run_id} cannot be written to {out}: {error.strerror}."
        ) from error


def _options(
    runtime: str, precision: str, conf: float | None, **more: str | bool | float | None
) -> dict[str, Any]:
    given = {"runtime": runtime, "precision": precision, "confidence": conf, **more}
    return {name: value for name, value in given.items() if value not in ("", None, False)}


def _subject(
    session: Session, subject: str, source: str, project: str, model: str
) -> tuple[int | None, str]:
    """The project that a run belongs to, and the place of its pictures if they are not there."""
    if source:
        return catalogue.find_or_create(session, subject).id, tools.place(source)
    if catalogue.known(session, subject):
        return catalogue.find(session, subject).id, ""
    if "://" in subject or stages.is_stage(subject) or Path(subject).expanduser().exists():
        return _project(session, project, model), tools.place(subject)
    raise Refused(f"There is no project, picture, folder or list named {subject!r}.")


def _project(session: Session, project: str, model: str) -> int | None:
    if project:
        return catalogue.find(session, project).id
    return choice.home(session, model)


def _among(states: list[str] | None, splits: list[str] | None) -> dict[str, list[str]]:
    return {name: values for name, values in (("states", states), ("splits", splits)) if values}


def _found(answer: dict[str, Any]) -> str:
    return (
        f"Run {answer['run']}: {many(answer.get('detections', 0), 'detection')} in "
        f"{many(answer.get('images', 0), 'image')} ({answer.get('known', 0):,} known), "
        f"{answer.get('failed', 0):,} unreadable, "
        f"{answer.get('images_per_second', 0):,.3g} images/s."
    )


def _complain(reasons: list[str], failed: int) -> None:
    for reason in reasons:
        terminal.warn(reason)
    if failed > len(reasons):
        terminal.warn(f"… and {failed - len(reasons):,} more.")

"""`loupe publish`: what leaves Loupe, results into the warehouse and models into files."""

from __future__ import annotations

import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from app import terminal
from app.commands import tools
from app.commands.jobs import waiting
from app.terminal import AsJson
from backend.errors import Refused, Unavailable
from backend.jobs import kinds, presence, queue
from backend.models import registry
from backend.projects import catalogue
from backend.warehouse import address, ledger, loading, outbox, pictures, standing, tables
from backend.warehouse.inside import versions
from backend.words import many

SHOWN = 20  # reasons that are printed
Project = Annotated[str, typer.Argument(help="Name of the project.")]


def add_to(cli: typer.Typer) -> None:
    """Make this command one of `loupe`."""
    cli.command()(publish)


def publish(
    project: Project,
    out: Annotated[
        Path | None,
        typer.Argument(help="A new .zip for a model; without one: results, into the warehouse."),
    ] = None,
    model: Annotated[
        str, typer.Option(help="With OUT or --registry: vN or champion; default: champion.")
    ] = "",
    runtime: Annotated[
        str, typer.Option(help="With OUT: the form to write a model in; default: onnx.")
    ] = "",
    images: Annotated[
        bool, typer.Option("--images", help="Also the pictures, with their bytes and labels.")
    ] = False,
    stage: Annotated[
        str,
        typer.Option(
            metavar="@STAGE/PATH",
            help="With --images: as files, onto that stage of Snowflake, their labels beside them.",
        ),
    ] = "",
    wait: Annotated[
        bool, typer.Option("--wait", help="Publish here, and end when all is in the warehouse.")
    ] = False,
    into_registry: Annotated[
        bool, typer.Option("--registry", help="Put the model into Snowflake's registry.")
    ] = False,
    name: Annotated[
        str, typer.Option(help="With --registry: the model's name there; default: the project's.")
    ] = "",
    service: Annotated[
        str,
        typer.Option(
            metavar="POOL",
            help="With --registry: write out the deployment of a service on that compute pool, "
            "into OUT if it is named.",
        ),
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Publish results into the warehouse now; or a model: into a file or Snowflake's registry.

    Example: loupe publish boards --wait
    """
    is_model = out is not None or into_registry
    _refuse_idle(
        (name or service, into_registry, "--name and --service go with --registry."),
        (images, not is_model, "--images goes with results: leave out OUT, --registry."),
        (stage, images, "--stage goes with --images."),
        (wait, not is_model and not stage, "--wait goes with rows: all else is waited for anyway."),
        (model, is_model, "--model goes with a model: name the file OUT, or say --registry."),
        (runtime, is_model, "--runtime goes with a model: name the file OUT."),
        (runtime, not into_registry, "--runtime goes with OUT: the registry takes a graph."),
    )
    with tools.open_tools() as at:
        wanted = model or registry.CHAMPION
        if into_registry:
            _register(at, project, out, (wanted, name, service), as_json)
        elif stage:
            _publish_files(at, project, stage, as_json)
        elif out is None:
            _publish_results(at, project, (images, wait), as_json)
        else:
            _publish_model(at, project, out, (wanted, runtime or "onnx"), as_json)


def _refuse_idle(*options: tuple[object, bool, str]) -> None:
    """Refuse an option that was said and fits nothing, rather than pass it over."""
    for said, fits, sentence in options:
        if said and not fits:
            raise Refused(sentence)


def _publish_results(
    at: tools.Tools, project: str, chosen: tuple[bool, bool], as_json: bool
) -> None:
    images, wait = chosen
    where = address.needed(at.settings)
    with at.database.write.begin() as session:
        project_ = catalogue.find(session, project)
        if outbox.install(session):
            # What has changed meanwhile is not known: what the warehouse has is looked at, too.
            ledger.set_laid(session, "")
            light = [name for name, kind in tables.KINDS.items() if not kind.heavy]
            outbox.enlist_all(session, light)
    largest = pictures.LARGEST[where.dialect]
    sent = pictures.enlist(at.database, at.files, project_.id, largest) if images else None
    if sent is not None and not as_json:
        _tell_of_pictures(sent)
    with at.database.write.begin() as session:
        rows = outbox.hurry(session)
        alive = bool(presence.living(session))
    told, error = "asked for", ""
    if wait or not alive:
        error = _load(at)
        told = "waiting" if error else "published"
    if as_json:
        more = (asdict(sent) if sent else {}) | ({"error": error} if error else {})
        terminal.document({"project": project, "rows": rows, "state": told, **more})
    elif not error:
        terminal.say(f"{rows:,} changed rows are {told}; loupe warehouse shows how it stands.")
    if error:
        raise Unavailable(error)
    if sent and sent.left_out:
        left = many(len(sent.left_out), "picture stays", "pictures stay")
        raise Refused(f"{left} here, for the reasons above; everything else is {told}.")


def _publish_files(at: tools.Tools, project: str, stage: str, as_json: bool) -> None:
    from backend.incoming import putting, stages

    known = stages.account(at.settings)
    with terminal.progress(f"Writing {project}", quiet=as_json) as told:
        where = putting.Outgoing(at.database, at.files, at.settings.cache, known, told)
        put = putting.put(where, project, stage)
    made = put.exported
    if as_json:
        terminal.document({**put.as_json(), "path": stage})
    else:
        terminal.say(f"{many(put.sent, 'file')} sent, {put.gone:,} taken away.")
        told_ = f"{many(made.images, 'image')}, {many(made.goldens, 'golden')}"
        terminal.say(f"{stage} has {told_} and {many(made.boxes, 'box', 'boxes')}.")
        if made.left_out:
            stay = ", ".join(f"{count:,} {state}" for state, count in made.left_out.items())
            terminal.say(f"Left out by their state: {stay}.")
        for problem in made.problems[:SHOWN]:
            terminal.warn(f"{problem.file}: {problem.reason}")
        if len(made.problems) > SHOWN:
            terminal.warn(f"And {len(made.problems) - SHOWN:,} more; --json tells all of them.")
    if made.problems:
        told_ = many(len(made.problems), "thing stays", "things stay")
        raise Refused(f"{told_} here, for the reasons above; everything else is on the stage.")


def _load(at: tools.Tools) -> str:
    """Publish here and now; gives what went wrong."""
    if loading.run(at.database, at.settings):
        return ""
    with at.database.read.begin() as session:
        found = standing.of(session, at.settings)
    return found.error if found else address.NONE


def _tell_of_pictures(found: pictures.Enlisted) -> None:
    """How many there are, and why some are left out, before anything else can go wrong."""
    terminal.say(f"{many(found.pictures, 'picture')}, {found.new:,} of them new.")
    for reason in found.left_out[:SHOWN]:
        terminal.warn(reason)
    if len(found.left_out) > SHOWN:
        terminal.warn(f"And {len(found.left_out) - SHOWN:,} more; --json tells all of them.")


def _publish_model(
    at: tools.Tools, project: str, out: Path, chosen: tuple[str, str], as_json: bool
) -> None:
    model, runtime = chosen
    if out.exists() or not out.parent.is_dir():
        raise Refused(f"{out} is there already, or its folder is not; name a new file.")
    with at.database.write.begin() as session:
        found = registry.find(session, catalogue.find(session, project).id, model)
        request = kinds.Publish(found.project_id, found.id, runtime)
        job = queue.enqueue(session, request, author=tools.me())
    job = waiting.to_the_end(at, job, as_json)
    shutil.copyfile(at.settings.exports / f"{job.id}.zip", out)
    if as_json:
        terminal.document({"model": found.name, "runtime": runtime, "path": str(out)})
    else:
        terminal.say(f"{out} holds {found.name} for {runtime}.")


def _register(
    at: tools.Tools, project: str, out: Path | None, chosen: tuple[str, str, str], as_json: bool
) -> None:
    model, name, pool = chosen
    if out is not None and not pool:
        raise Refused(f"{out} would stay empty: what is written is the deployment of --service.")
    if out is not None and (out.exists() or not out.parent.is_dir()):
        raise Refused(f"{out} is there already, or its folder is not; name a new file.")
    versions.check(address.of(at.settings), name or project, pool)
    with at.database.write.begin() as session:
        found = registry.find(session, catalogue.find(session, project).id, model)
        versions.check(address.of(at.settings), name or project, pool, found.name)
        request = kinds.Register(found.project_id, found.id, name, pool)
        job = queue.enqueue(session, request, author=tools.me())
    result = waiting.to_the_end(at, job, as_json).result
    if out is not None:
        out.write_text(result["service"], "utf-8")
    if as_json:
        terminal.document(dict(result))
        return
    terminal.say(f"{result['registered']} has the version {found.name.upper()}.")
    if pool:
        terminal.say(f"{out} is its deployment." if out else result["service"].rstrip())

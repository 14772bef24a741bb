"""Commands for what leaves Loupe: results into a warehouse, models into files."""

from __future__ import annotations

import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

import typer

from app import terminal
from app.commands import tools
from app.commands.jobs import waiting
from app.terminal import AsJson
from backend.errors import Invalid, NotFound, Refused, Unavailable
from backend.jobs import kinds, presence, queue
from backend.models import registry
from backend.projects import catalogue
from backend.warehouse import (
    address,
    administration,
    loading,
    outbox,
    pictures,
    queries,
    standing,
)
from backend.warehouse.inside import snowsight, versions
from backend.words import many

SHOWN = 20  # reasons that are printed
Project = Annotated[str, typer.Argument(help="Name of the project.")]


def add_to(cli: typer.Typer) -> None:
    """Make these commands of `loupe`."""
    for command in (publish, warehouse):
        cli.command()(command)


def publish(
    project: Project,
    out: Annotated[
        Path | None,
        typer.Argument(help="A new .zip for a model; without one: results, into the warehouse."),
    ] = None,
    model: Annotated[str, typer.Option(help="vN or champion.")] = registry.CHAMPION,
    runtime: Annotated[str, typer.Option(help="The form to write a model in.")] = "onnx",
    images: Annotated[
        bool, typer.Option("--images", help="Also the pictures, with their bytes and labels.")
    ] = False,
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
    if (name or service) and not into_registry:
        raise Refused("--name and --service go with --registry.")
    with tools.open_tools() as at:
        if images and (out is not None or into_registry):
            raise Refused(
                "--images goes with results, not with a model: leave out OUT, --registry."
            )
        if into_registry:
            _register(at, project, out, (model, name, service), as_json)
        elif out is None:
            _publish_results(at, project, (images, wait), as_json)
        else:
            _publish_model(at, project, out, (model, runtime), as_json)


def warehouse(
    action: Annotated[
        Literal["check", "ask", "streamlit"] | None,
        typer.Argument(
            help="Check: what is missing there. Ask: one of the named queries. Streamlit: write "
            "the page for Snowsight."
        ),
    ] = None,
    query: Annotated[
        str, typer.Argument(help="Name of the query (without one: all), or of the page's file.")
    ] = "",
    values: Annotated[
        list[str] | None, typer.Argument(help="What the query needs, such as run=12.")
    ] = None,
    apply: Annotated[
        bool, typer.Option("--apply", help="With check: run the SQL that it prints, as --admin.")
    ] = False,
    admin: Annotated[
        str, typer.Option(help="Connection of connections.toml that may make roles and rights.")
    ] = "",
    account: Annotated[
        bool, typer.Option("--account", help="With check: try what only a real account can show.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show what is published, what waits and what went wrong; or check the connection, or ask.

    Example: loupe warehouse check
    """
    if action != "check" and (apply or account or admin):
        raise Refused("--apply, --admin and --account go with check: loupe warehouse check.")
    if admin and not apply:
        raise Refused("--admin names who runs the SQL of --apply; say both.")
    with tools.open_tools() as at:
        if action == "check":
            if apply:
                _apply(at, admin)
            if account:
                _rehearse(at, as_json)
            else:
                _check(at, as_json)
            return
        if action == "ask":
            _ask(at, query, values or [], as_json)
            return
        if action == "streamlit":
            _write_page(at, query, as_json)
            return
        _show(at, as_json)


def _show(at: tools.Tools, as_json: bool) -> None:
    with at.database.read.begin() as session:
        found = standing.of(session, at.settings)
    if as_json:
        terminal.document(asdict(found) if found else None)
        return
    if found is None:
        raise NotFound(address.NONE)
    for sentence in standing.sentences(found):
        terminal.say(sentence)


def _publish_results(
    at: tools.Tools, project: str, chosen: tuple[bool, bool], as_json: bool
) -> None:
    images, wait = chosen
    where = _where(at)
    with at.database.write.begin() as session:
        project_ = catalogue.find(session, project)
        if outbox.install(session):
            outbox.enlist_all(session)
    largest = pictures.LARGEST[where.dialect]
    sent = pictures.enlist(at.database, at.files, project_.id, largest) if images else None
    with at.database.write.begin() as session:
        rows = outbox.hurry(session)
        alive = bool(presence.living(session))
    if wait or not alive:
        done = loading.run(at.database, at.settings)
        with at.database.read.begin() as session:
            found = standing.of(session, at.settings)
        if not done:
            raise Unavailable(found.error if found else address.NONE)
    told = "published" if wait or not alive else "asked for"
    if as_json:
        more = asdict(sent) if sent else {}
        terminal.document({"project": project, "rows": rows, "state": told, **more})
    else:
        terminal.say(f"{rows:,} changed rows are {told}; loupe warehouse shows how it stands.")
    if sent is not None:
        _tell_of_pictures(sent, as_json)


def _tell_of_pictures(found: pictures.Enlisted, as_json: bool) -> None:
    if not as_json:
        terminal.say(f"{many(found.pictures, 'picture')}, {found.new:,} of them new.")
        for reason in found.left_out[:SHOWN]:
            terminal.warn(reason)
    if found.left_out:
        left = many(len(found.left_out), "picture stays", "pictures stay")
        raise Refused(f"{left} here, for the reasons above; everything else is done.")


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


def _ask(at: tools.Tools, name: str, values: list[str], as_json: bool) -> None:
    if not name:
        told = [(one.name, " ".join(one.needs), one.says) for one in queries.QUERIES.values()]
        found = queries.Answer(("query", "needs", "says"), told)
    else:
        given = dict(_pair(value) for value in values)
        scratch = loading.scratch(at.settings)
        found = administration.ask(_where(at), scratch, queries.find(name), given)
    if as_json:
        terminal.document([dict(zip(found.columns, row, strict=True)) for row in found.rows])
    else:
        terminal.table(found.columns, found.rows)


def _write_page(at: tools.Tools, name: str, as_json: bool) -> None:
    if not name:
        raise Invalid("Name the file: loupe warehouse streamlit loupe_results.py")
    path = Path(name)
    script = snowsight.script(path, address.of(at.settings))
    snowsight.write(path)
    if as_json:
        terminal.document({"path": str(path), "sql": script})
        return
    terminal.say(f"{path} is the page. What puts it into Snowflake, whose package pillow it needs:")
    for line in script:
        terminal.say(f"  {line}")


def _pair(value: str) -> tuple[str, str]:
    name, equals, told = value.partition("=")
    if not equals:
        raise Invalid(f"{value} is no value of a query; write it as run=12.")
    return name, told


def _where(at: tools.Tools) -> address.Address:
    where = address.of(at.settings)
    if where is None:
        raise Refused(address.NONE)
    return where


def _check(at: tools.Tools, as_json: bool) -> None:
    where = _where(at)
    script = administration.script(where)
    try:
        found = administration.check(where, loading.scratch(at.settings))
    except Unavailable as error:
        if not as_json:
            _print(script)
        raise Unavailable(str(error)) from error
    if as_json:
        terminal.document({**found, "sql": script})
    else:
        who = f" as {found['who']}" if found["who"] else ""
        terminal.say(f"Connected to {found['where']}{who}: {found['version']}.")
        for one in found["missing"]:
            terminal.say(f"Missing: {one}")
        if found["missing"]:
            _print(script)
    if found["missing"]:
        raise Refused("Loads cannot succeed yet; what is missing stands above.")
    if not as_json:
        terminal.say("Nothing is missing.")


def _apply(at: tools.Tools, admin: str) -> None:
    for statement in administration.apply(_where(at), loading.scratch(at.settings), admin):
        terminal.warn(f"Done: {statement}")


def _rehearse(at: tools.Tools, as_json: bool) -> None:
    found = []
    for one in administration.rehearse(_where(at), loading.scratch(at.settings) / "trial"):
        found.append(one)
        if not as_json:
            terminal.say(f"{'pass' if one.passed else 'FAIL'}  {one.name}: {one.said}")
    if as_json:
        terminal.document([asdict(one) for one in found])
    failed = [one.name for one in found if not one.passed]
    if failed:
        raise Unavailable(f"{len(failed)} of {len(found)} failed: {', '.join(failed)}.")


def _print(script: list[str]) -> None:
    if script:
        terminal.say("What an administrator may run:")
    for line in script:
        terminal.say(f"  {line}")

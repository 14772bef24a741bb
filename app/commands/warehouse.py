"""`loupe warehouse`: what is published, what waits, what is missing there, and questions to it."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

import typer

from app import terminal
from app.commands import tools
from app.terminal import AsJson
from backend.errors import Invalid, NotFound, Refused, Unavailable
from backend.warehouse import (
    address,
    administration,
    loading,
    queries,
    standing,
)
from backend.warehouse.inside import snowsight

SEEN = {True: "pass", False: "FAIL", None: "skip"}


def add_to(cli: typer.Typer) -> None:
    """Make this command one of `loupe`."""
    cli.command()(warehouse)


def warehouse(
    action: Annotated[
        Literal["check", "ask", "streamlit", "example"] | None,
        typer.Argument(
            help="Check: what is missing there. Ask: one of the named queries. Streamlit: write "
            "the page for Snowsight. Example: walk the example of several cards."
        ),
    ] = None,
    query: Annotated[
        str,
        typer.Argument(help="A query (without one: all), the page's file, or @STAGE/path."),
    ] = "",
    values: Annotated[
        list[str] | None,
        typer.Argument(
            help="What the query or example needs, such as run=12; of an example project=, voc=, "
            "images=, family=, epochs=, size=, nodes=, workers=, device=, egress=, picture=."
        ),
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
    service: Annotated[
        str,
        typer.Option(metavar="POOL", help="With --account: also start a service on that pool."),
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Show what is published, what waits and what went wrong; or check the connection, or ask.

    Example: loupe warehouse check
    """
    _refuse_idle(action, query, values, apply or account or bool(admin))
    if admin and not apply:
        raise Refused("--admin names who runs the SQL of --apply; say both.")
    if service and not account:
        raise Refused("--service goes with --account: what it starts costs credits.")
    with tools.open_tools() as at:
        if action == "check":
            if apply:
                _apply(at, admin)
            if account:
                _rehearse(at, service, as_json)
            else:
                _check(at, as_json)
        elif action == "ask":
            _ask(at, query, values or [], as_json)
        elif action == "example":
            _walk(at, query, values or [], as_json)
        elif action == "streamlit":
            _write_page(at, query, as_json)
        else:
            _show(at, as_json)


def _refuse_idle(
    action: str | None, query: str, values: list[str] | None, is_checking: bool
) -> None:
    """Refuse what was said and fits nothing, rather than pass it over."""
    if action != "check" and is_checking:
        raise Refused("--apply, --admin and --account go with check: loupe warehouse check.")
    if query and action == "check":
        raise Refused(f"{query[:80]!r} says nothing to a check: loupe warehouse check.")
    if values and action not in ("ask", "example"):
        raise Refused("Values go with a query: loupe warehouse ask NAME run=12.")


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


def _ask(at: tools.Tools, name: str, values: list[str], as_json: bool) -> None:
    if not name:
        told = [(one.name, " ".join(one.needs), one.says) for one in queries.QUERIES.values()]
        found = queries.Answer(("query", "needs", "says"), told)
    else:
        given = dict(_pair(value) for value in values)
        scratch = loading.scratch(at.settings)
        found = administration.ask(address.needed(at.settings), scratch, queries.find(name), given)
    if as_json:
        terminal.document([dict(zip(found.columns, row, strict=True)) for row in found.rows])
    else:
        terminal.table(found.columns, found.rows)


def _walk(at: tools.Tools, stage: str, values: list[str], as_json: bool) -> None:
    from app.commands import example

    if not stage:
        raise Invalid("Name a place for it: loupe warehouse example @STAGE/example")
    found = example.walk(at, stage, values, as_json)
    if as_json:
        terminal.document(found)
        return
    for sentence in example.sentences(found):
        terminal.say(sentence)


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


def _check(at: tools.Tools, as_json: bool) -> None:
    where = address.needed(at.settings)
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
    for statement in administration.apply(
        address.needed(at.settings), loading.scratch(at.settings), admin
    ):
        terminal.warn(f"Done: {statement}")


def _rehearse(at: tools.Tools, pool: str, as_json: bool) -> None:
    found = []
    # A load that begins meanwhile takes away what lies in the folder of loads.
    where, scratch = address.needed(at.settings), at.settings.cache / "warehouse-trial"
    for one in administration.rehearse(where, scratch, pool):
        found.append(one)
        if not as_json:
            terminal.say(f"{SEEN[one.passed]}  {one.name}: {one.said}")
    if as_json:
        terminal.document([asdict(one) for one in found])
    failed = [one.name for one in found if one.passed is False]
    if failed:
        raise Unavailable(f"{len(failed)} of {len(found)} failed: {', '.join(failed)}.")


def _print(script: list[str]) -> None:
    if script:
        terminal.say("What an administrator may run:")
    for line in script:
        terminal.say(f"  {line}")

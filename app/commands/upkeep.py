"""Commands that keep a home safe and tidy: copy it, bring a copy back, take things away."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from app import terminal
from app.commands import tools
from app.terminal import AsJson
from backend import words
from backend.errors import Refused
from backend.projects import catalogue
from backend.upkeep import removal
from backend.upkeep.backup import BackupContents

# How long a removal waits for jobs of the project that are still ending.
PATIENCE = 60.0

Project = Annotated[str, typer.Argument(help="Name of the project.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]


def add_to(cli: typer.Typer) -> None:
    """Make these commands of `loupe`."""
    for command in (backup, restore, check, tidy, remove, purge):
        cli.command()(command)


def backup(
    file: Annotated[Path, typer.Argument(help="A new file, such as loupe-may.backup.")],
    as_json: AsJson = False,
) -> None:
    """Copy the whole home into one file, also while the site runs; each file is checked.

    Example: loupe backup /backups/loupe-may.backup
    """
    from backend.upkeep import backup as copies

    with (
        tools.open_tools() as at,
        terminal.progress(f"Copying into {file.name}", quiet=as_json) as told,
    ):
        report = copies.write(at.database, at.files, file.absolute(), told)
    _tell(report, f"{file} holds the database and", as_json)


def restore(
    file: Annotated[Path, typer.Argument(help="A file that loupe backup has written.")],
    as_json: AsJson = False,
) -> None:
    """Bring a backup into a home that is still empty, on SQLite or PostgreSQL.

    Example: LOUPE_HOME=/data/loupe loupe restore /backups/loupe-may.backup
    """
    from backend.upkeep import backup as copies

    with (
        tools.open_tools() as at,
        terminal.progress(f"Restoring from {file.name}", quiet=as_json) as told,
    ):
        report = copies.read(file, at.database, at.files, told)
    _tell(report, "This home now has the database and", as_json)


def check(
    repair: Annotated[
        bool, typer.Option("--repair", help="Mend what can be mended without losing anything.")
    ] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="Ask whether files are there, not what is in them.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Look through the whole home for what must not be, also while the site runs.

    Example: loupe check --repair
    """
    from backend.upkeep import checks

    with (
        tools.open_tools() as at,
        terminal.progress("Checking the files", quiet=as_json) as told,
    ):
        found = checks.check(at.database, at.files, repair=repair, quick=quick, told=told)
    if as_json:
        terminal.document({**asdict(found), "clean": found.clean})
    else:
        for one in found.findings:
            terminal.say(f"Mended: {one.sentence}" if one.mended else one.sentence)
        terminal.say(f"{found.rules} rules and {found.files:,} files were checked.")
        if found.unnamed:
            terminal.say(f"{found.unnamed:,} files are named by nothing: loupe tidy removes them.")
    if not found.clean:
        able = any(one.repairable and not one.mended for one in found.findings)
        how = "; loupe check --repair mends what it can" if able else ""
        left = sum(not one.mended for one in found.findings)
        raise Refused(f"{left:,} {'finding' if left == 1 else 'findings'}{how}.")


def tidy(
    only_look: Annotated[
        bool, typer.Option("--dry-run", help="Only say how much there is to remove.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Remove files that nothing names any more and nobody has brought in for a day.

    Example: loupe tidy --dry-run
    """
    from backend.upkeep import litter

    with tools.open_tools() as at:
        found = litter.tidy(at.database, at.files, only_look=only_look)
    if as_json:
        terminal.document(asdict(found))
    else:
        done = "could be removed" if only_look else "removed"
        terminal.say(f"{words.many(found.files, 'file')} {done} ({found.bytes / 1e6:,.1f} MB).")


def remove(project: Project, yes: Yes = False, as_json: AsJson = False) -> None:
    """Remove a project with all that hangs on it; its name must be typed.

    Example: loupe remove demo
    """
    with (
        tools.open_tools() as at,
        terminal.progress(f"Removing {project}", quiet=as_json) as told,
    ):
        with at.database.read.begin() as session:
            found = catalogue.find(session, project)
            remains = removal.remains(session, found.id)
        typed = project if yes else typer.prompt(f"{project} has {remains}. Type its name")
        with at.database.write.begin() as session:
            removal.begin(session, found.id, typed, tools.me())
        removal.finish(at.database, found.id, told, patience=PATIENCE)
    if as_json:
        terminal.document(asdict(remains))
    else:
        terminal.say(f"{project} is gone; its pictures go with the next loupe tidy.")


def purge(project: Project, yes: Yes = False, as_json: AsJson = False) -> None:
    """Remove for good the images of a project that were put away, with all said of them.

    Example: loupe purge demo --yes
    """
    with tools.open_tools() as at, terminal.progress("Removing", quiet=as_json) as told:
        with at.database.read.begin() as session:
            found = catalogue.find(session, project)
            count = removal.purgeable(session, found.id)
        if count and not yes:
            typer.confirm(f"Remove {count:,} images of {project} for good?", abort=True)
        removed = removal.purge(at.database, found.id, told)
    if as_json:
        terminal.document({"images": removed})
    else:
        gone = words.many(removed, "image is", "images are")
        terminal.say(f"{gone} gone; the pictures go with the next loupe tidy.")


def _tell(report: BackupContents, said: str, as_json: bool) -> None:
    if as_json:
        terminal.document(asdict(report))
    else:
        terminal.say(f"{said} {report.files:,} files ({report.bytes / 1e6:,.0f} MB).")
    amiss = [(one, "is not in the store") for one in report.missing]
    amiss += [(one, "has other bytes than its name says") for one in report.damaged]
    for name, what in amiss[:20]:
        terminal.warn(f"The file {name[:12]}… {what}.")
    if amiss:
        raise Refused(
            f"{len(amiss):,} files that the database names are missing or damaged; "
            "everything else is there."
        )

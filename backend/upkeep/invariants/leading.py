"""Rows lead to rows: every reference of every table, with or without a foreign key."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from backend.storage.tables import Base
from backend.upkeep.invariants.rule import Rule

# Runs over a folder or a URL number their pictures for themselves.
OF_IMAGES = (
    "run_id IN (SELECT id FROM run WHERE project_id IS NOT NULL AND source NOT LIKE '%\"path\":%')"
)
DANGLING_LEASE = (
    "DELETE FROM lease WHERE NOT EXISTS (SELECT 1 FROM run_image there "
    "WHERE there.run_id = lease.run_id AND there.image_id = lease.image_id)"
)
SUMS = ("part_sum", "board_sum", "class_sum", "board_mark")  # of a run; they are only kept


@dataclass(frozen=True, slots=True)
class Reference:
    """Columns of a table that name a row of another one; where any is null they name none."""

    table: str
    columns: tuple[str, ...]
    target: str
    keys: tuple[str, ...] = ("id",)
    where: str = ""
    repair: str | None = None


UNDECLARED = (
    Reference("box", ("run_id", "run_image_id", "run_idx"), "detection",
              ("run_id", "image_id", "idx")),
    Reference("revision", ("label_id",), "class"),
    Reference("snapshot_image", ("image_id", "version"), "revision", ("image_id", "version")),
    Reference("snapshot_image", ("golden_id",), "image"),
    Reference("model", ("job_id",), "job"),
    Reference("search", ("job_id",), "job"),
    Reference("run", ("project_id",), "project"),
    Reference("run", ("model_id",), "model"),
    Reference("run_image", ("run_id",), "run"),
    Reference("run_image", ("image_id",), "image", where=OF_IMAGES),
    Reference("detection", ("run_id", "image_id"), "run_image", ("run_id", "image_id")),
    Reference("detection", ("class_id",), "class"),
    Reference("metric", ("class_id",), "class", where="class_id <> 0"),
    Reference("decision", ("run_id", "image_id"), "run_image", ("run_id", "image_id")),
    Reference("decision", ("run_id", "image_id", "idx"), "detection",
              ("run_id", "image_id", "idx")),
    Reference("decision", ("image_id", "revision"), "revision", ("image_id", "version")),
    Reference("decision", ("undoes",), "decision"),
    Reference("repeat", ("run_id", "image_id"), "run_image", ("run_id", "image_id")),
    Reference("doubt", ("job_id",), "job"),
    Reference("doubt", ("image_id", "version"), "revision", ("image_id", "version")),
    Reference("doubt", ("image_id", "revision"), "revision", ("image_id", "version")),
    Reference("token", ("person",), "person", ("name",), "person <> '' AND ended IS NULL"),
    Reference("lease", ("run_id", "image_id"), "run_image", ("run_id", "image_id"),
              repair=DANGLING_LEASE),
    *(Reference(sums, ("run_id",), "run", repair=f"DELETE FROM {sums} WHERE NOT EXISTS "
                f"(SELECT 1 FROM run WHERE run.id = {sums}.run_id)") for sums in SUMS),
)  # fmt: skip


def declared() -> Iterator[Reference]:
    """The foreign keys of the tables."""
    for table in Base.metadata.sorted_tables:
        for key in sorted(table.foreign_key_constraints, key=lambda one: list(one.column_keys)):
            target = tuple(element.column.name for element in key.elements)
            yield Reference(table.name, tuple(key.column_keys), key.referred_table.name, target)


def references() -> tuple[Reference, ...]:
    """All references there are."""
    return (*declared(), *UNDECLARED)


def rules() -> Iterator[Rule]:
    """A rule a reference."""
    for one in references():
        yield _rule(one)


def _rule(one: Reference) -> Rule:
    pairs = [f'there."{key}" = here."{name}"' for key, name in _pairs(one)]
    named = [f'here."{name}" IS NOT NULL' for name in one.columns]
    where = [*named, *([f"here.{one.where}"] if one.where else [])]
    shown = ", ".join(f'here."{name}" AS "{name}"' for name in one.columns)
    key = Base.metadata.tables[one.table].primary_key.columns
    own = " || ':' || ".join(f'CAST(here."{column.name}" AS TEXT)' for column in key)
    said = ", ".join(f"{name} {{{name}}}" for name in one.columns)
    return Rule(
        f"{one.table}.{'+'.join(one.columns)}",
        f"The {one.table} {{here}} names the {one.target} of {said}, which is not there.",
        f'SELECT {own} AS here, {shown} FROM "{one.table}" here '
        f"WHERE {' AND '.join(where)} AND NOT EXISTS "
        f'(SELECT 1 FROM "{one.target}" there WHERE {" AND ".join(pairs)})',
        one.repair,
    )


def _pairs(one: Reference) -> Iterator[tuple[str, str]]:
    return zip(one.keys, one.columns, strict=True)

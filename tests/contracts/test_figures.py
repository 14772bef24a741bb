"""Every figure that Loupe shows is as before once classes were renamed, swapped, reordered, merged.

A figure is a row of FIGURES; a new one is a new row.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest
from pyarrow import parquet
from sqlalchemy.orm import Session

from backend.formats import format_table as formats
from backend.jobs import listing as jobs
from backend.labels import gallery, images, labelling
from backend.labels.gallery import Filter
from backend.models import preflight, registry, snapshots
from backend.projects import catalogue, classes
from backend.review import agenda, provenance, reports, tally, views
from backend.review.agenda import Choice
from backend.review.behind import Behind
from backend.review.boards import sheet, verdicts
from backend.review.deciding import decisions, takebacks
from backend.review.overview import adding, keeping, reading
from backend.review.overview.reading import Narrowed
from backend.runs import comparison, documents, proposals
from backend.settings import Settings
from backend.storage import engine
from backend.storage import files as stores
from tests import databases
from tests.contracts import plain
from tests.contracts.renaming import BY_NAME, BY_RULES, NOW, SORTED, UNSEEN, Site, rename
from tests.workers.handlers.places import Place

Figure = Callable[[Site, Session], Any]


def sorted_images(site: Site, session: Session) -> Any:
    """What images are, by every way in which that is shown."""
    found = gallery.ids(session, site.classified, Filter())
    told = [(one.name, one.label) for one in (images.get(session, id_) for id_ in found)]
    names = [one.name for one in classes.of(session, site.classified) if one.name not in UNSEEN]
    of_class = [gallery.ids(session, site.classified, Filter(classes=(one,))) for one in names]
    counts = gallery.counts(session, site.classified, Filter())["class"]
    checked = preflight.check(session, site.classified, "classifier", {}, 1, "")
    return [told, sorted(of_class), counts, checked.boxes]


def sorted_frozen(site: Site, session: Session) -> Any:
    """What a classifier would learn from."""
    frozen = snapshots.get(session, site.frozen)
    return sorted(frozen.classes), [one.label for one in snapshots.images(session, frozen.id)]


def by_class(site: Site, session: Session, of: Callable[[str], Any]) -> dict[str, Any]:
    """A figure of each class."""
    return {name: of(name) for name in site.names(session)}


def results(site: Site, session: Session) -> list[Any]:
    """What jobs have said of classes."""
    found = jobs.find(session, project_id=site.project, before=site.last + 1)
    return [(one.id, one.result.get("per_class"), one.result.get("metrics")) for one in found]


def told(site: Site, session: Session, name: str) -> Any:
    """All that is known of a model."""
    known = registry.details(session, registry.find(session, site.project, name).id)
    return [known.model.classes, known.model.metrics, known.evaluation, known.against,
            registry.verdict(known)]  # fmt: skip


def documented(site: Site, session: Session) -> Any:
    """The documents of a run, by image."""
    folder = site.out / f"documents-{len(list(site.out.iterdir()))}"
    documents.write(session, site.run, folder)
    return {path.name: json.loads(path.read_text()) for path in sorted(folder.iterdir())}


def added_up(site: Site, session: Session) -> Any:
    """The sheet of a run; the order of classes that are as frequent is that of their names."""
    read = sheet.read(session, site.run)
    found = {one.name: (one.defects, one.boards) for one in read.classes}
    return [found, read.counted, read.lots, read.worst, read.failing, read.judges, read.seen]


def at_a_glance(site: Site, session: Session) -> Any:
    """The overview of a run; the order of classes that are as frequent is that of their names."""
    for part, mark in keeping.stale(session, [site.run])[site.run]:
        keeping.keep(session, site.run, adding.add_up(session, site.run, part), mark)
    project = catalogue.get(session, site.project)

    def told(*labels: str) -> Any:
        read = reading.read(session, project, [site.run], Narrowed(labels=labels), 0)
        found = {one.name: replace(one, color="", so_far=0.0) for one in read.classes}
        cells = {one.label: (one.group, one.defects, one.boards) for one in read.cells}
        return [found, cells, read.boards, read.mistaken, read.scores, read.places]

    return told(), by_class(site, session, told)


def behind_a_mark(site: Site, session: Session) -> Any:
    """The boards of a run on which a defect of each class stands."""
    return by_class(
        site,
        session,
        lambda n: agenda.ids(session, site.run, Choice(behind=Behind(defects=(n,))), 100),
    )


def frozen(site: Site, session: Session) -> Any:
    """What a model has learned from."""
    model = registry.find(session, site.project, "v1")
    snapshot = snapshots.get(session, model.snapshot_id or 0)
    return sorted(snapshot.classes), [one.boxes for one in snapshots.images(session, snapshot.id)]


def exported(name: str) -> Figure:
    """The labels of an export in a format, read back."""
    return lambda at, session: at.exported(session, name)


def labels(found: Mapping[int, proposals.Proposed]) -> Any:
    """Who proposes what."""
    return {id_: (one.proposer, [d.label for d in one.detections]) for id_, one in found.items()}


FIGURES: dict[str, Figure] = {
    "projects": lambda _, s: catalogue.summaries(s)[0].boxes,
    "boxes": lambda at, s: labelling.boxes_of(s, at.seen(s)),
    "history": lambda at, s: labelling.history(s, at.seen(s)[0]),
    "browse, one class": lambda at, s: by_class(
        at, s, lambda n: gallery.ids(s, at.project, Filter(classes=(n,)))
    ),
    "browse, counts": lambda at, s: gallery.counts(s, at.project, Filter())["class"],
    "preflight": lambda at, s: preflight.check(s, at.project, "golden", {}, 1, ""),
    "runs": lambda at, s: [
        (one.classes, one.detections) for one in views.runs(s, at.project) if one.run.id <= at.last
    ],
    "run figures": lambda at, s: tally.figures(s, at.run),
    "rule": lambda at, s: views.rule(s, at.project),
    "review": lambda at, s: [
        (one.detections, one.decided, one.verdict) for one in views.items(s, at.run, at.seen(s))
    ],
    "review, one class": lambda at, s: by_class(
        at, s, lambda n: agenda.ids(s, at.run, Choice(labels=(n,), least=0.5), 100)
    ),
    "wall": lambda at, s: by_class(at, s, lambda n: views.wall(s, at.run, n)),
    "wall, classes": lambda at, s: views.wall_classes(s, at.run),
    "undo": lambda at, s: takebacks.past(s, at.run, at.seen(s)[0], "ana"),
    "decisions": lambda at, s: decisions.standing(s, at.seen(s), [at.run]),
    "why a detection": lambda at, s: provenance.why(s, f"{at.run}:{at.seen(s)[0]}:0"),
    "compare runs": lambda at, s: comparison.compare(s, at.run, at.rules),
    "proposals": lambda at, s: labels(proposals.best(s, at.project, at.seen(s))),
    "report, csv": lambda at, _: list(csv.DictReader(io.StringIO(at.table("csv")))),
    "report, parquet": lambda at, s: parquet.read_table(
        io.BytesIO(b"".join(reports.write(s, at.run, "parquet")))
    ).to_pylist(),
    "report, coco": lambda at, _: [
        one | {"category_id": 0} for one in json.loads(at.table("coco"))
    ],
    "boards": lambda at, s: verdicts.of(s, at.run, at.seen(s)),
    "sheet": added_up,
    "overview": at_a_glance,
    "behind a mark": behind_a_mark,
    "documents": documented,
    "snapshot": frozen,
    "models": lambda at, s: [one.metrics for one in registry.models(s, at.project)],
    "model v1": lambda at, s: told(at, s, "v1"),
    "model v2": lambda at, s: told(at, s, "v2"),
    "jobs": results,
    "classified images": sorted_images,
    "classified, snapshot": sorted_frozen,
    "classified, run": lambda _, s: views.summary(s, SORTED).classes,
    "classified, report": lambda _, s: [
        (row["name"], row["label"], row["given"]) for row in reports.rows(s, SORTED)
    ],
    **{f"export, {name}": exported(name) for name in formats.FORMATS},
}
# What is worked out anew, each by a job.
MEASURED: dict[str, Callable[[Site], Any]] = {
    "evaluate v1": lambda at: at.evaluated("v1"),
    "evaluate v2": lambda at: at.evaluated("v2"),
    "judge a file": lambda at: at.judged(at.table("csv")),
    "judge a file of before": lambda at: at.judged(at.of_before()),
    "detect": lambda at: found_again(at, "v1"),
    BY_RULES: lambda at: found_again(at, "golden"),
}


def found_again(at: Site, model: str) -> Any:
    """What a run finds that looks again, and how many images one that need not look knows."""
    looked = at.place.detect(at.project, model, options={"again": True})["run"]
    known = at.place.detect(at.project, model)
    with at.place.database.read() as session:
        runs = [views.summary(session, run).classes for run in (looked, known["run"])]
    return runs, known["known"]


def figures(site: Site) -> dict[str, Any]:
    """Every figure."""
    with site.place.database.write.begin() as session:
        found = {name: plain.shown(of(site, session)) for name, of in FIGURES.items()}
    return found | {name: plain.shown(of(site)) for name, of in MEASURED.items()}


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def both(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """The figures of before under the names of now, and those of now."""
    home = tmp_path_factory.mktemp("home")
    out = tmp_path_factory.mktemp("out")
    url = f"sqlite:///{home / 'loupe.db'}"
    if request.param == "postgres":
        url = databases.new_postgres_database(request.getfixturevalue("postgres"))
    database = engine.open_url(url)
    engine.create_tables(database)
    settings = Settings(home=home, mlflow_uri="off")
    site = Site(Place(settings, database, stores.connect(settings)), out)
    before = {
        name: plain.renamed(one, BY_NAME if name == BY_RULES else NOW)
        for name, one in figures(site).items()
    }
    with database.write.begin() as session:
        rename(session, site.project)
        rename(session, site.classified)
    yield before, figures(site)
    database.close()


@pytest.mark.parametrize("name", [*FIGURES, *MEASURED])
def test_a_figure_is_as_before(name: str, both: tuple[dict[str, Any], dict[str, Any]]) -> None:
    before, after = both
    assert before[name]
    assert plain.settled(after[name]) == plain.settled(before[name])

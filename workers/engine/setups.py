"""From the model that a person names to what a worker loads: the same for every way to detect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from backend import families
from backend.errors import Refused
from backend.jobs import needs
from backend.jobs.needs import Need
from backend.models import choice
from backend.models.choice import Chosen, Label
from backend.projects import large_pictures
from backend.runs import detection
from backend.settings import Settings
from backend.storage.engine import Database
from backend.storage.files import Files
from workers import runtimes
from workers.engine import tiles
from workers.engine.work import Setup
from workers.families.golden import names as rules
from workers.runtimes import ModelSource, preparing
from workers.runtimes.labels import together
from workers.runtimes.preparing import Prepared

TILED = ("yolo", "faster_rcnn")
CARD_BATCH = 32
ON_CORES = ("openvino",)
LOADER = "workers.runtimes.preparing:load"


@dataclass(frozen=True, slots=True)
class Stores:
    """Where models, pictures and results are."""

    database: Database
    files: Files
    settings: Settings


def prepare(
    stores: Stores,
    project_id: int | None,
    chosen: Chosen,
    options: Mapping[str, Any],
    pictures: Sequence[Path] = (),
    apart: bool = False,
) -> Prepared:
    """The model, ready to be loaded; `apart` keeps torch out of this process."""
    runtime, precision = _runtime(chosen, stores, options), str(options.get("precision", ""))
    code = preparing.prepare_apart if apart else preparing.prepare
    source = _source(stores, project_id, chosen, options)
    return code(source, stores.settings.cache, runtime, precision, pictures)


def setup(
    stores: Stores,
    project_id: int | None,
    chosen: Chosen,
    prepared: Prepared,
    options: Mapping[str, Any],
) -> Setup:
    """How workers load it and look at pictures."""
    confidence = detection.confidence(chosen.family, options)
    tile = _tile(stores, project_id, chosen, prepared, str(options.get("tiles", "")))
    needs_all = bool(tile) or families.find(chosen.family).needs_golden
    device = options.get("device", needs.AUTO)
    card = device == needs.GPU or (device == needs.AUTO and prepared.precision == "f16")
    on_cores = _on_cores(chosen.family, prepared.source.image_size)
    return Setup(
        LOADER,
        (prepared, confidence, 1),
        confidence,
        wanted=0 if needs_all else prepared.source.image_size,
        tile=tile,
        batch=CARD_BATCH if card else on_cores,
        on_cores=on_cores,
        megapixels=stores.settings.max_megapixels,
        card=card,
    )


def need(setup: Setup, options: Mapping[str, Any]) -> Need:
    """What each process of a run has: the card that its setup computes on, or a core."""
    device = needs.GPU if setup.card else needs.CPU
    return Need(device, int(options.get("workers", 1)), float(options.get("memory_gb", 0)))


def either(wish: Need, options: Mapping[str, Any]) -> Need:
    """The same, or cores where no card can come, unless the device is a person's own wish."""
    wished = options.get("device", needs.AUTO) != needs.AUTO
    return wish if wished or wish.device == needs.CPU else replace(wish, device=needs.AUTO)


def given(setup: Setup, need: Need) -> Setup:
    """The setup on what has been given for it."""
    card = need.device == needs.GPU
    return replace(setup, card=card, batch=setup.batch if card else setup.on_cores)


def needs_other(options: Mapping[str, Any]) -> bool:
    """Whether a card is asked for that this machine does not have."""
    return options.get("device") == needs.GPU and not runtimes.has_card()


def _runtime(chosen: Chosen, stores: Stores, options: Mapping[str, Any]) -> str:
    """The one that is asked for; where the device is, one that computes there."""
    named, device = str(options.get("runtime", "")), options.get("device", needs.AUTO)
    if device == needs.GPU:
        if needs_other(options) and not stores.settings.ray_address:
            raise Refused(
                "A GPU is asked for, and this machine has none: ask for the device cpu, or name a "
                "cluster that has GPUs with LOUPE_RAY_ADDRESS."
            )
        if named in ON_CORES:
            raise Refused(f"The runtime {named} computes on cores, never on a GPU.")
        return named or _first(chosen.family, on_card=True)
    return named or (_first(chosen.family, on_card=False) if device == needs.CPU else "")


def _on_cores(family: str, size: int) -> int:
    """How many pictures a model on cores looks at together."""
    return together(size) if families.answers_once(family) else 1


def _first(family: str, on_card: bool) -> str:
    """The first runtime of a family that computes on a card, or that does not."""
    found = [one.name for one in runtimes.choices(family)]
    fitting = [name for name in found if (name in runtimes.ON_CARDS) is on_card]
    return (fitting or found)[0]


def labels(
    stores: Stores, project_id: int | None, chosen: Chosen, prepared: Prepared
) -> tuple[Label, ...]:
    """What the classes of the model are in the project."""
    with stores.database.read() as session:
        return choice.labels(session, project_id, chosen, prepared.source.classes)


def _source(
    stores: Stores, project_id: int | None, chosen: Chosen, options: Mapping[str, Any]
) -> ModelSource:
    size = options.get("image_size") or (chosen.parameters or {}).get("image_size") or 0
    if not chosen.weights:
        with stores.database.read() as session:
            said = choice.known_names(session, project_id)
        names = tuple(rules.known(one) for one in said)
        return ModelSource(chosen.family, None, chosen.classes or names, int(size))
    stored = len(chosen.weights) == 64 and stores.files.has(chosen.weights)
    weights = stores.files.local_path(chosen.weights) if stored else Path(chosen.weights)
    return ModelSource(chosen.family, weights, chosen.classes, int(size))


def _tile(
    stores: Stores, project_id: int | None, chosen: Chosen, prepared: Prepared, wish: str
) -> int:
    """Only detectors that shrink pictures gain from tiles."""
    if chosen.family not in TILED:
        return 0
    size, longest = 0.0, 1.0
    if project_id is not None:
        with stores.database.read() as session:
            size, longest = detection.typical_sizes(session, project_id)
            wish = wish or large_pictures.wish(session, project_id)
    return tiles.side_for(wish or large_pictures.AUTO, prepared.source.image_size, size, longest)

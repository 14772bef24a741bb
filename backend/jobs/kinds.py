"""The kinds of job, one row each: what is asked, and what may not wait or run beside it.

Adding a kind is a request here, a row in KINDS, and a module in `workers.handlers`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from backend.errors import Invalid
from backend.jobs.lanes import Lane


@dataclass(frozen=True, slots=True)
class Request:
    """What a job is asked to do; the fields are kept with the job as JSON."""

    kind: ClassVar[str] = ""
    project_id: int | None


@dataclass(frozen=True, slots=True)
class Train(Request):
    """Train a model on a snapshot; `start` names start weights (a stored hash or a file)."""

    kind: ClassVar[str] = "train"
    model_id: int
    snapshot_id: int
    family: str
    start: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Tune(Request):
    """Try parameters of a search, trial after trial; the best one becomes the model.

    `start` names start weights, as that of a training does; so many trials go on `at_once`
    (0: as many as there is room for), each on such a `share` of a card.
    """

    kind: ClassVar[str] = "tune"
    search_id: int
    model_id: int
    start: str = ""
    at_once: int = 0
    share: float = 1.0


@dataclass(frozen=True, slots=True)
class Detect(Request):
    """Run a model over images: those of a project (`source` filters them), or of a place.

    The run's number is the job's.
    """

    kind: ClassVar[str] = "detect"
    family: str
    model_id: int | None = None
    weights: str = ""
    source: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Propose(Detect):
    """Propose boxes from the golden board: a detection before any model is trained."""

    kind: ClassVar[str] = "propose"


@dataclass(frozen=True, slots=True)
class Try(Detect):
    """Look at one picture that is in no project; `path` is a copy that is removed afterwards."""

    kind: ClassVar[str] = "try"
    path: str = ""


@dataclass(frozen=True, slots=True)
class Glimpse(Request):
    """Change some pictures as a training of that family would, of so many that it learns from."""

    kind: ClassVar[str] = "glimpse"
    family: str
    images: Sequence[int] = ()
    learned: int = 0
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Watch(Detect):
    """Look at every picture that arrives in a folder, until cancelled; `out` takes JSON files."""

    kind: ClassVar[str] = "watch"
    folder: str = ""
    out: str = ""


@dataclass(frozen=True, slots=True)
class Evaluate(Request):
    """Measure a model on one split of its snapshot, or the held-out one, and `against` another."""

    kind: ClassVar[str] = "evaluate"
    model_id: int
    snapshot_id: int | None = None
    split: str = ""
    iou: float = 0.5
    against: int | None = None


@dataclass(frozen=True, slots=True)
class Judge(Request):
    """Measure what another program found (`file`: a stored hash), and a model beside it."""

    kind: ClassVar[str] = "judge"
    snapshot_id: int
    file: str
    name: str
    model_id: int | None = None
    split: str = ""
    iou: float = 0.5


@dataclass(frozen=True, slots=True)
class Doubts(Request):
    """Look for labels of a snapshot that are likely wrong.

    They are held against what a run found (`run_id`), else what another program found (`file`: a
    stored hash, called `name`), else what models of a family find that are trained in turns, each
    on all parts of the labels but one (`folds`).
    """

    kind: ClassVar[str] = "doubts"
    snapshot_id: int
    family: str = ""
    run_id: int | None = None
    file: str = ""
    name: str = ""
    folds: int = 3
    start: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Benchmark(Request):
    """Measure how fast and how well a model runs in each runtime of this machine."""

    kind: ClassVar[str] = "benchmark"
    model_id: int
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Scale(Request):
    """Train the same over more and more processes, and detect so; `plan` says over which."""

    kind: ClassVar[str] = "scale"
    snapshot_id: int
    family: str
    start: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    plan: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Publish(Request):
    """Write a model in the form of a runtime, for use outside of Loupe."""

    kind: ClassVar[str] = "publish"
    model_id: int
    runtime: str = "onnx"


@dataclass(frozen=True, slots=True)
class Register(Request):
    """Put a model into Snowflake's registry, under the project's name unless another is said.

    `pool` is the compute pool of a service whose deployment is written out, too.
    """

    kind: ClassVar[str] = "register"
    model_id: int
    name: str = ""
    pool: str = ""


@dataclass(frozen=True, slots=True)
class Import(Request):
    """Read pictures and boxes from a place into a project; `masks` says how, where it has any.

    `lot` is the group of all that comes; without it, pictures have the groups that the place names.
    """

    kind: ClassVar[str] = "import"
    source: str
    format: str = "auto"
    masks: str = ""
    lot: str = ""


@dataclass(frozen=True, slots=True)
class Export(Request):
    """Write a project's pictures and boxes into one .zip in the cache, to be fetched from there.

    `source` says which images, `shares` how those without a split are shared out.
    """

    kind: ClassVar[str] = "export"
    format: str
    source: Mapping[str, Any] = field(default_factory=dict)
    shares: Sequence[int] = ()
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Remove(Request):
    """Take away the rows of a project that was removed; the job itself belongs to none."""

    kind: ClassVar[str] = "remove"
    removed: int
    name: str = ""


@dataclass(frozen=True, slots=True)
class Purge(Request):
    """Take away for good the images of a project that were put away."""

    kind: ClassVar[str] = "purge"


@dataclass(frozen=True, slots=True)
class Check(Request):
    """Show that worker, disk and (if asked) cluster do their part: steps of a given length."""

    kind: ClassVar[str] = "check"
    steps: int = 3
    seconds: float = 0.1
    cluster: bool = False


@dataclass(frozen=True, slots=True)
class Kind:
    """A row of KINDS.

    `lock` names what no two running jobs may share, `waiting` what no two waiting ones may;
    both are filled in from the request. `retries` is how often a crash is forgiven.
    """

    request: type[Request]
    title: str
    lane: Lane
    lock: str = ""
    waiting: str = ""
    retries: int = 5
    priority: int = 0

    @property
    def name(self) -> str:
        """What the job's row calls it."""
        return self.request.kind


KINDS = {
    kind.name: kind
    for kind in (
        Kind(Train, "Training", Lane.LONG, "train:{project_id}", "train:{project_id}"),
        Kind(
            Tune,
            "Search for parameters",
            Lane.LONG,
            "tune:{search_id}",
            "tune:{search_id}",
            retries=100,
        ),
        Kind(Benchmark, "Benchmark", Lane.LONG, "benchmark", "benchmark:{model_id}"),
        Kind(Scale, "Cluster benchmark", Lane.LONG, "benchmark", "scale:{project_id}", retries=100),
        Kind(
            Detect,
            "Detection",
            Lane.SHORT,
            waiting="detect:{project_id}:{family}:{weights}:{source}:{options}",
        ),
        Kind(Try, "Try of a picture", Lane.INSTANT, retries=1),
        Kind(Glimpse, "Glimpse of a training", Lane.INSTANT, retries=1),
        Kind(Watch, "Watched folder", Lane.WATCH, "watch:{folder}", "watch:{folder}", retries=100),
        Kind(Propose, "Proposals", Lane.SHORT, waiting="propose:{project_id}:{source}"),
        Kind(
            Evaluate,
            "Evaluation",
            Lane.SHORT,
            waiting="evaluate:{model_id}:{snapshot_id}:{split}:{iou}:{against}",
        ),
        Kind(
            Judge,
            "Evaluation of predictions",
            Lane.SHORT,
            waiting="judge:{snapshot_id}:{file}:{split}:{iou}",
        ),
        Kind(Doubts, "Labels in doubt", Lane.LONG, "doubts:{project_id}", "doubts:{project_id}"),
        Kind(Check, "Check of the worker", Lane.SHORT),
        Kind(Publish, "Export of a model", Lane.SHORT, waiting="publish:{model_id}:{runtime}"),
        Kind(
            Register,
            "Registration of a model",
            Lane.SHORT,
            "register:{model_id}",
            "register:{model_id}:{name}",
        ),
        Kind(Import, "Import", Lane.SHORT, "import:{project_id}", "import:{project_id}:{source}"),
        Kind(Remove, "Removal of a project", Lane.SHORT, waiting="remove:{removed}"),
        Kind(Purge, "Removal of images", Lane.SHORT, "purge:{project_id}", "purge:{project_id}"),
        Kind(
            Export,
            "Export",
            Lane.SHORT,
            waiting="export:{project_id}:{format}:{source}:{shares}:{seed}",
        ),
    )
}


def find(name: str) -> Kind:
    """The kind of that name."""
    if name not in KINDS:
        raise Invalid(f"There is no kind of job {name!r}; there are {', '.join(KINDS)}.")
    return KINDS[name]


def of_lane(lane: Lane) -> tuple[str, ...]:
    """The names of the kinds that one lane carries out."""
    return tuple(kind.name for kind in KINDS.values() if kind.lane is lane)


def encode(request: Request) -> dict[str, Any]:
    """The request's fields, as they are kept with the job."""
    return dataclasses.asdict(request)


def decode(name: str, fields: Mapping[str, Any]) -> Request:
    """The request that a job keeps; a field that its kind does not have is named."""
    try:
        return find(name).request(**fields)
    except TypeError as error:
        raise Invalid(f"The job asks for {name} in a way this version cannot: {error}.") from error

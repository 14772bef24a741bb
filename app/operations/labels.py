"""Images and their labels, as programs read, save, bring and take them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import Field, FiniteFloat
from starlette.responses import FileResponse, Response

from app import premises
from app.operations import jobs, uploads
from app.operations.jobs import Job
from app.operations.operation import Asked, Desk, Operation, Paged, Received
from app.premises import Premises
from backend.domain import Box, DetectionRef, Origin, Role, Split, State
from backend.formats import format_table, masks
from backend.jobs import kinds, queue
from backend.labels import export_choice, gallery, imports, labelling
from backend.labels.gallery import GalleryImage
from backend.review.deciding import saves
from backend.review.deciding.decisions import Sheet
from backend.runs import detection, proposals


@dataclass(frozen=True, slots=True)
class Image:
    """An image with its labels; `label` is the class of the whole picture, if it has one."""

    id: int
    name: str
    sha256: str
    width: int
    height: int
    state: State
    split: Split | None
    group: str
    golden: int | None
    version: int
    label: str
    comment: str
    author: str
    boxes: Sequence[Box]


@dataclass(frozen=True, slots=True)
class ImagePage:
    """A part of the images; `next` leads to the one after it, and is empty at the end."""

    items: Sequence[Image]
    next: str


@dataclass(frozen=True, slots=True)
class Saved:
    """The version of an image that stands now."""

    image: int
    version: int


class Which(Paged):
    """Which images of a project; values of one field are alternatives."""

    states: list[State] = Field([], max_length=10)
    splits: list[Split] = Field([], max_length=10)
    classes: list[str] = Field([], max_length=100)
    groups: list[str] = Field([], max_length=100)
    text: str = Field("", max_length=200, description="what names contain")
    goldens: bool = Field(False, description="the goldens in place of the others")


class TakenFrom(Asked):
    """The detection that a box was taken from."""

    run: int
    image: int
    idx: int = Field(ge=0)


class NewBox(Asked):
    """A box to be saved, corners in pixels of the picture; `id` where it was there before.

    `detection` says which detection it was taken from. What else a box has that was read may stay:
    it is said anew.
    """

    x1: FiniteFloat
    y1: FiniteFloat
    x2: FiniteFloat
    y2: FiniteFloat
    label: str = Field(max_length=200)
    id: str = Field("", max_length=64)
    detection: TakenFrom | None = None
    origin: Origin | None = None
    author: str = Field("", max_length=200)
    class_id: int | None = None

    def box(self) -> Box:
        """The box; from whom it is, and whether it was there before, is known here."""
        ref = DetectionRef(**self.detection.model_dump()) if self.detection else None
        return Box(self.x1, self.y1, self.x2, self.y2, self.label, id=self.id, detection=ref)


class NewLabels(Asked):
    """All that is to stand on an image; `version` is the one that was read before."""

    version: int = Field(ge=0)
    boxes: list[NewBox] = Field(max_length=labelling.MOST_BOXES)
    state: State | None = None
    label: str | None = Field(None, max_length=200)
    comment: str | None = Field(None, max_length=5000)


class Source(Asked):
    """Which images of a project; nothing means all."""

    images: list[int] | None = Field(None, max_length=200_000)
    states: list[State] | None = None
    splits: list[Split] | None = None

    def source(self) -> dict[str, object]:
        """The choice, as jobs keep it."""
        return self.model_dump(
            mode="json", include={"images", "states", "splits"}, exclude_none=True
        )


class Import(Asked):
    """What the body is called, and how it is to be read."""

    name: str = Field("upload.zip", max_length=200, description="its ending says what it is")
    format: str = Field("auto", max_length=20)
    masks: str = Field("", max_length=20)
    lot: str = Field("", max_length=300, description="of all that comes; it stands below its name")


class Export(Asked):
    """How to write, and which images; without more words those that are done."""

    format: str = Field(max_length=20)
    states: list[str] = Field([], max_length=10)
    splits: list[str] = Field([], max_length=10)
    shares: list[int] = Field([], max_length=3)
    seed: int = Field(0, ge=0, le=10**9)


def images(desk: Desk, project: str, asked: Which) -> ImagePage:
    """The images of a project with their labels, in the order in which they came."""
    found = premises.project(desk.session, project)
    chosen = gallery.Filter(
        states=tuple(asked.states),
        splits=tuple(asked.splits),
        classes=tuple(asked.classes),
        groups=tuple(asked.groups),
        text=asked.text,
        goldens=asked.goldens,
    )
    ids = gallery.following(desk.session, found.id, chosen, asked.number(), asked.limit)
    items = [_image(one) for one in gallery.items(desk.session, ids)]
    return ImagePage(items, str(ids[-1]) if len(ids) == asked.limit else "")


def labels(desk: Desk, image: int) -> Image:
    """One image with its labels."""
    return _image(gallery.one(desk.session, image))


def picture(at: Premises, image: int) -> Response:
    """The picture of an image, as it came."""
    with at.read() as session:
        found = gallery.one(session, image).image
    path = at.previews.full(found.sha256)
    return FileResponse(path, media_type=at.previews.media_type(path))


def save_labels(desk: Desk, image: int, asked: NewLabels) -> Saved:
    """Save all boxes of an image over the version that was read; what others saved is kept."""
    boxes = tuple(one.box() for one in asked.boxes)
    sheet = Sheet(asked.version, boxes, asked.state, asked.label, asked.comment)
    return Saved(image, saves.save(desk.session, image, sheet, desk.person.name).version)


def import_(desk: Desk, project: str, asked: Import, file: Received) -> Job:
    """Bring in the body of the request: an archive of pictures and labels, or one picture."""
    if asked.format != format_table.AUTO:
        format_table.find(asked.format)
    masks.check(asked.masks)
    lot = asked.lot.strip()
    imports.check_lot(lot)
    found = premises.project(desk.session, project)
    path = uploads.named(file, asked.name)
    request = kinds.Import(found.id, str(path), asked.format, asked.masks, lot)
    return jobs.shown(queue.enqueue(desk.session, request, author=desk.person.name))


def export(desk: Desk, project: str, asked: Export) -> Job:
    """Write pictures and labels into an archive; once the job is done, it is its file."""
    format_table.find(asked.format)
    given = asked.model_dump(include={"states", "splits"})
    source = {name: value for name, value in given.items() if value}
    export_choice.asked(source, asked.shares)
    found = premises.project(desk.session, project)
    request = kinds.Export(found.id, asked.format, source, asked.shares, asked.seed)
    return jobs.shown(queue.enqueue(desk.session, request, author=desk.person.name))


def propose(desk: Desk, project: str, asked: Source) -> Job:
    """Let the golden board propose boxes; they are the detections of the run of that number."""
    found = premises.project(desk.session, project)
    source = asked.source()
    detection.check_images(desk.session, found.id, source)
    return jobs.shown(proposals.ask(desk.session, found.id, source, desk.person.name))


OF = "/projects/{project}"
NICK = {"x1": 10, "y1": 10, "x2": 30, "y2": 24, "label": "short"}
OPERATIONS = (
    Operation("GET", f"{OF}/images", Role.VIEWER, images, {"project": "boards", "states": ["new"]}),
    Operation("GET", "/images/{image}/labels", Role.VIEWER, labels, {"image": 12}),
    Operation(
        "GET", "/images/{image}/picture", Role.VIEWER, picture, {"image": 12}, sends="image/*"
    ),
    Operation(
        "PUT",
        "/images/{image}/labels",
        Role.LABELER,
        save_labels,
        {"image": 12, "version": 1, "boxes": [NICK], "state": "done"},
    ),
    Operation(
        "POST",
        f"{OF}/import",
        Role.LABELER,
        import_,
        {"project": "boards", "name": "lot-7.zip", "lot": "lot 7"},
        takes_file=True,
    ),
    Operation("POST", f"{OF}/export", Role.VIEWER, export, {"project": "boards", "format": "coco"}),
    Operation(
        "POST", f"{OF}/propose", Role.LABELER, propose, {"project": "boards", "states": ["new"]}
    ),
)


def _image(one: GalleryImage) -> Image:
    of = one.image
    return Image(
        id=of.id,
        name=of.name,
        sha256=of.sha256,
        width=of.width,
        height=of.height,
        state=of.state,
        split=of.split,
        group=of.group,
        golden=of.golden_id,
        version=of.version,
        label=of.label,
        comment=of.comment,
        author=one.author,
        boxes=one.boxes,
    )

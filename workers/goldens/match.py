"""Finds the golden of images that have none: by group, by name, or by look."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence

from backend.labels import images
from backend.runs import detection
from backend.runs.detection import Target
from workers.context import Context
from workers.goldens.lookalikes import Lookalikes

PART = 200  # images at a time
Found = dict[int, list[int]]  # images by their golden


def fit(context: Context, project_id: int, source: Mapping[str, object]) -> None:
    """Give each image of the source that has no golden the project's golden that fits it best."""
    with context.database.read() as session:
        lost = [s for s in detection.subjects(session, project_id, source) if not s.golden_sha256]
        goldens = detection.goldens(session, project_id) if lost else []
    if not goldens:
        return
    candidates, alike = Candidates(goldens), Lookalikes(context.files, context.settings)
    alike.learn(goldens, lambda done, all_: context.progress(None, f"Golden {done} of {all_}"))
    for start in range(0, len(lost), PART):
        context.progress(None, f"Finding goldens: image {start + 1} of {len(lost)}")
        _keep(context, _fitted(lost[start : start + PART], candidates, alike))


class Candidates:
    """The goldens of a project, by group and by name."""

    def __init__(self, goldens: Sequence[Target]) -> None:
        self._all = goldens
        self._groups: dict[str, list[Target]] = {}
        self._names: dict[str, list[Target]] = {}
        for golden in goldens:
            self._groups.setdefault(golden.group, []).append(golden)
            self._names.setdefault(_stem(golden.name), []).append(golden)

    def of(self, image: Target) -> Sequence[Target]:
        """The goldens of the image's group, else those whose name its own begins with, else all."""
        if image.group and image.group in self._groups:
            return self._groups[image.group]
        bare = image.name.removeprefix(f"{image.group}/")
        own = self._begun(image.name, len(image.name) - len(bare))
        return own or self._begun(bare) or self._begun(image.name) or self._all

    def _begun(self, name: str, lot: int = 0) -> list[Target]:
        """Those whose names this one begins with; so many of its letters are its lot's alone."""
        stem = _stem(name)
        begun = (self._names.get(stem[:end], ()) for end in range(lot + 1, len(stem) + 1))
        return [golden for some in begun for golden in some]


def _stem(name: str) -> str:
    """What names the product: `line3/a7_golden.png` is `line3/a7`."""
    stem = posixpath.splitext(name)[0].lower()
    for word in ("golden", "template", "temp", "reference", "ref", "clean"):
        stem = stem.removesuffix(word).rstrip("-_ .")
    return stem or name


def _fitted(lost: Sequence[Target], candidates: Candidates, alike: Lookalikes) -> Found:
    found: Found = {}
    for image in lost:
        board = alike.open(image)
        best = None if board is None else alike.best(board, candidates.of(image))
        if best is not None:
            found.setdefault(best.image_id, []).append(image.image_id)
    return found


def _keep(context: Context, found: Found) -> None:
    if not found:
        return
    with context.database.write.begin() as session:
        context.fence(session)
        for golden, ids in found.items():
            images.set_golden(session, ids, golden)

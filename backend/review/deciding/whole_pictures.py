"""Decisions on classified pictures: what is said of an answer is the picture's class, not a box.

Accepting gives the class of the answer, another class corrects it, refusing leaves none; taking a
decision back brings the class and the state from before it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlalchemy.orm import Session

from backend import families
from backend.domain import Box, Image, Run, State, Task, Verdict
from backend.errors import NotFound
from backend.labels import images, labelling
from backend.projects import catalogue
from backend.review.deciding import decisions
from backend.review.deciding.decisions import Sheet, Standing, Subject
from backend.storage import findings
from backend.storage.tables import DecisionRow

UNDO = "undo"


def said(session: Session, image_id: int, sheet: Sheet) -> Sheet:
    """The sheet as it is to be saved; one that speaks of no classifier's run is as it was."""
    run = _run(session, sheet)
    if run is None or not families.answers_once(run.family):
        return sheet
    image = images.get(session, image_id)
    found = findings.detections(session, run.id, [image_id])[image_id]
    if catalogue.get(session, image.project_id).task is not Task.CLASSIFY or not found:
        return sheet
    now = decisions.standing(session, [image_id], [run.id])[image_id]
    return _Answer(session, image, sheet, found[0].label, now.get(Subject(run.id, 0))).said()


def _run(session: Session, sheet: Sheet) -> Run | None:
    """The run that the sheet speaks of; that there is none is refused where it is saved."""
    try:
        return None if sheet.run_id is None else findings.get(session, sheet.run_id)
    except NotFound:
        return None


@dataclass(frozen=True, slots=True)
class _Answer:
    """A sheet beside the answer that it judges, and the decision that stands on it."""

    session: Session
    image: Image
    sheet: Sheet
    label: str
    stands: Standing | None

    def said(self) -> Sheet:
        sheet = self.sheet
        if 0 in (sheet.rejected or ()):
            return self._with("", rejected=(0,))
        chosen = self._chosen()
        if chosen == self.label:
            return self._with(chosen, accepted=(0,))
        if chosen:
            return self._with(chosen, corrected=(0,))
        silent = sheet.accepted is None and sheet.rejected is None
        return self._taken_back() if self.stands and not silent else self._bare()

    def _chosen(self) -> str:
        """The class that the sheet gives the picture; '' where it gives none."""
        sheet, before = self.sheet, self.image.label
        own = self._own()
        other = sheet.label if sheet.label != before and sheet.action != UNDO else ""
        if other:
            return other
        if own or 0 in (sheet.accepted or ()):
            return own[-1].label if own else sheet.label or self.label
        corrected = self.stands is not None and self.stands.verdict is Verdict.CORRECT
        return before if corrected and sheet.label == before else ""

    def _own(self) -> list[Box]:
        """Boxes that show the answer, as pages and sweeps send them."""
        run, image_id = self.sheet.run_id, self.image.id
        refs = [(box, box.detection) for box in self.sheet.boxes]
        return [box for box, ref in refs if ref and (ref.run, ref.image) == (run, image_id)]

    def _stood(self, version: int) -> Verdict | None:
        """What stood of the answer at an earlier version of the picture."""
        run_id, image_id = self.sheet.run_id or 0, self.image.id
        found = decisions.standing(self.session, [image_id], [run_id], until=version)[image_id]
        one = found.get(Subject(run_id, 0))
        return one.verdict if one else None

    def _bare(self) -> Sheet:
        own = self._own()
        left = tuple(box for box in self.sheet.boxes if box not in own)
        return replace(self.sheet, boxes=left)

    def _with(
        self,
        label: str,
        rejected: tuple[int, ...] = (),
        accepted: tuple[int, ...] = (),
        corrected: tuple[int, ...] = (),
    ) -> Sheet:
        said = replace(self._bare(), label=label, state=State.DONE)
        return replace(said, rejected=rejected, accepted=accepted, corrected=corrected)

    def _taken_back(self) -> Sheet:
        """As it was before the decision, where the sheet does not say how."""
        assert self.stands is not None
        version = self.session.get_one(DecisionRow, self.stands.id).revision
        if not version:
            return self._bare()
        if self.sheet.label is not None and self.sheet.action == UNDO:
            corrected = self._stood(version - 1) is Verdict.CORRECT
            return self._with(self.sheet.label, corrected=(0,)) if corrected else self._bare()
        old = labelling.revision(self.session, self.image.id, version - 1)
        return replace(self._bare(), label=old.label, state=old.state)

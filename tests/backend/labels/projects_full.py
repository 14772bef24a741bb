"""What tests ask of whole projects: bring in, take out, and say what is in there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import select

from backend.domain import Image
from backend.formats import format_table
from backend.labels import export_choice, exports, images, imports, labelling
from backend.projects import catalogue
from backend.settings import Settings
from backend.storage.engine import Database
from backend.storage.files import Files
from backend.storage.tables import ImageRow


@dataclass(frozen=True)
class House:
    """A database and a store, with the commands of the house."""

    database: Database
    files: Files
    home: Path

    def bring(
        self,
        source: Path,
        project: str = "line 3",
        name: str = format_table.AUTO,
        progress: Callable[[int, int], None] = lambda _done, _all: None,
        lot: str = "",
    ) -> imports.Imported:
        """Import."""
        into = imports.Into(self.database, self.files, project, "ana", progress=progress, lot=lot)
        return imports.run(into, source, Settings(home=self.home), name)

    def take(
        self, out: Path, name: str, project: str = "line 3", **source: object
    ) -> exports.Exported:
        """Export; all that is there, where nothing else is asked for."""
        asked = export_choice.asked(source or {"states": [export_choice.ALL]})
        with self.database.read.begin() as session:
            return exports.run(
                session, self.files, project, out, name, lambda _done, _all: None, asked
            )

    def images(self, project: str = "line 3") -> dict[str, Image]:
        """Every image by name, goldens too."""
        with self.database.read.begin() as session:
            query = select(ImageRow).filter_by(project_id=catalogue.find(session, project).id)
            return {one.name: one for one in images.of_rows(session, session.scalars(query))}

    def boxes(self, project: str = "line 3") -> dict[str, list[tuple[object, ...]]]:
        """The boxes of every image by its name, as corners and class, in one order."""
        found = self.images(project)
        with self.database.read.begin() as session:
            boxes = labelling.boxes_of(session, [image.id for image in found.values()])
        return {
            name: sorted((b.x1, b.y1, b.x2, b.y2, b.label) for b in boxes[image.id])
            for name, image in found.items()
        }

    def per_class(self, project: str = "line 3") -> dict[str, int]:
        """How many boxes each class has."""
        return dict(Counter(box[4] for boxes in self.boxes(project).values() for box in boxes))  # type: ignore[misc]

    def classes(self, project: str = "line 3") -> list[str]:
        """The classes in their order."""
        with self.database.read.begin() as session:
            return [kind.name for kind in catalogue.find(session, project).classes]

"""Our examples as Ultralytics reads a data set.

Import only inside a training process, as `yolo_trainer`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from ultralytics.data import YOLODataset

from workers.families.base import Example
from workers.training import basics


class Pictures(YOLODataset):  # type: ignore[misc]
    """Examples as Ultralytics wants them, labels from memory."""

    def __init__(
        self, examples: tuple[Example, ...], classes: tuple[str, ...], **rest: Any
    ) -> None:
        self.examples, self.classes = examples, classes
        super().__init__("", task="detect", **rest)

    def get_img_files(self, _: Any) -> list[str]:
        """The files of the examples."""
        return [str(example.path) for example in self.examples]

    def get_labels(self) -> list[dict[str, Any]]:
        """Boxes as centre and size, relative to the picture."""
        return [self._label(example) for example in self.examples]

    def _label(self, example: Example) -> dict[str, Any]:
        rows = basics.boxes(example, self.classes)
        low, high = rows[:, :2], rows[:, 2:4]
        size = np.tile(np.array([example.width, example.height], np.float32), 2)
        return {
            "im_file": str(example.path),
            "shape": (example.height, example.width),
            "cls": rows[:, 4:].astype(np.float32),
            "bboxes": (np.hstack([(low + high) / 2, high - low]) / size).astype(np.float32),
            "segments": [],
            "keypoints": None,
            "normalized": True,
            "bbox_format": "xywh",
        }

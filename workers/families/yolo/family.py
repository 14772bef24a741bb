"""The family `yolo`: YOLO11 by Ultralytics, from given weights or from scratch.

Files that may start a training: our own (.safetensors) and Ultralytics' (.pt, read without running
code). `parameters.extra` may hold `from_scratch` (True: no start weights are looked for), `half`
(False: no bfloat16), `accumulate`, what all families call alike (`mirror`, `turn`, …), and any
training setting of Ultralytics (`mosaic`, `freeze`, …), which goes through unchanged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from workers import offline
from workers.families import letterbox
from workers.families.base import (
    NOTHING,
    Detections,
    Parameters,
    Picture,
    Pixels,
    Reporter,
    Seen,
    Trained,
    TrainingSet,
)
from workers.training import basics, distributed
from workers.weights import start, weight_files

FAMILY = "yolo"
LEAST_SCORE = 0.001
NMS_IOU = 0.7
MOST = 300


def train(
    data: TrainingSet,
    begin: Path | None,
    parameters: Parameters,
    reporter: Reporter,
    folder: Path,
) -> Trained:
    """Train; given the same folder again after a kill, go on after the last finished epoch.

    Raises Refused or Invalid before anything is started where the request makes no sense, and
    whatever the reporter raises (Cancelled), leaving the folder resumable.
    """
    basics.check(data, parameters)
    basics.check_boxes(data)
    variant = parameters.variant or "n"
    chosen = start.choose(FAMILY, variant, begin, parameters.extra)
    task = basics.TrainingTask(data, chosen, parameters, folder.resolve())
    return distributed.train(_loop, task, reporter)


def seen(data: TrainingSet, parameters: Parameters, learned: int) -> Iterator[Seen]:
    """Each picture as Ultralytics' loader gives it: alone, or a mosaic of several."""
    offline.prepare()
    from workers.families.yolo import trainer

    return trainer.seen(data, parameters, learned)


def load(path: Path | None, device: str = "cpu") -> Yolo:
    """A model from our own weights or from Ultralytics'."""
    from workers.families.yolo import yolo_network

    chosen = path or start.choose(FAMILY, "n", None, {})
    assert chosen is not None
    header, network = yolo_network.read(chosen)
    return Yolo(header, network, device or basics.device())


class Yolo:
    """A YOLO in memory; `network` maps RGB batches in 0..1 to (batch, 4 + classes, anchors)."""

    def __init__(
        self, header: weight_files.WeightsHeader, network: torch.nn.Module, device: str
    ) -> None:
        self.header, self.device = header, torch.device(device)
        self.classes, self.image_size = header.classes, header.image_size
        self.network = network.to(self.device).eval()

    def predict(self, batch: Sequence[Picture]) -> list[Detections]:
        """The detections of each picture, best first, from a score of .001 up, at most 300."""
        sizes = [(picture.pixels.shape[1], picture.pixels.shape[0]) for picture in batch]
        fits = [letterbox.fit(width, height, self.image_size) for width, height in sizes]
        alike: dict[tuple[int, int], list[int]] = {}
        for index, where in enumerate(fits):
            alike.setdefault((where.input_height, where.input_width), []).append(index)
        found = [NOTHING] * len(batch)
        for chosen in alike.values():
            inputs = [letterbox.placed(batch[index].pixels, fits[index]) for index in chosen]
            boxes = self._detect(tensor(inputs).to(self.device))
            for index, rows in zip(chosen, boxes, strict=True):
                found[index] = letterbox.back(rows, fits[index], *sizes[index])
        return found

    def export(self, runtime: str, folder: Path) -> Path:
        """The network as a file for another program: torchscript, openvino or onnx."""
        from workers.weights import publishing

        side = -(-self.image_size // letterbox.STRIDE) * letterbox.STRIDE
        return publishing.write(
            _Boxes(self.network), (1, 3, side, side), runtime, folder, self.header
        )

    @torch.inference_mode()
    def _detect(self, images: torch.Tensor) -> list[Detections]:
        from ultralytics.utils import nms

        output = self.network(images)
        output = output[0] if isinstance(output, tuple | list) else output
        rows = nms.non_max_suppression(
            output, LEAST_SCORE, NMS_IOU, max_det=MOST, nc=len(self.classes), max_time_img=10.0
        )
        return [each.cpu().numpy().astype(np.float32) for each in rows]


class _Boxes(torch.nn.Module):
    """The network without what only its training needs."""

    def __init__(self, network: torch.nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, images: torch.Tensor) -> Any:
        """Boxes and class scores: (batch, 4 + classes, anchors)."""
        return self.network(images)[0]


def tensor(inputs: Sequence[Pixels]) -> torch.Tensor:
    """Pictures of one shape as the network takes them: RGB, channels first, 0 to 1."""
    stacked = np.stack([each[:, :, ::-1].transpose(2, 0, 1) for each in inputs])
    return torch.from_numpy(stacked).float() / 255


def _loop(task: basics.TrainingTask, place: basics.Place, reporter: Reporter) -> Mapping[str, Any]:
    """Imports Ultralytics only here: it reads the process's rank when it is imported."""
    offline.prepare()
    from workers.families.yolo import trainer

    return trainer.run(task, place, reporter)

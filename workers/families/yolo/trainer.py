"""Ultralytics' trainer with our data, our reports, our checkpoints, and Ray's process group.

Import only inside a training process, after `offline.prepare` and once its rank is set.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from ultralytics.cfg import get_cfg
from ultralytics.models.yolo.detect import DetectionTrainer
from ultralytics.nn import tasks

from backend.domain import Split
from backend.errors import Unavailable
from workers.families.base import Example, Parameters, Reporter, Seen, TrainingSet
from workers.families.yolo import dataset, yolo_network
from workers.training import basics
from workers.training.basics import Place, TrainingTask

OURS = {"from_scratch", "download", "half", "accumulate"}
# What Ultralytics calls the changes of the pictures that all families call alike.
THEIRS = {
    "mirror": "fliplr",
    "upside_down": "flipud",
    "turn": "degrees",
    "shift": "translate",
    "light": "hsv_v",
}
# Fewer images than this are changed less: what is learned in a few steps must fit at once.
FEW = 1000
# The learning rate of a network that knows all classes already; it has more to lose than to learn.
GENTLE = 4e-4
LOSSES = ("box_loss", "cls_loss", "dfl_loss")
CURVES = {
    "train/box_loss": "box_loss",
    "train/cls_loss": "cls_loss",
    "train/dfl_loss": "dfl_loss",
    "val/box_loss": "val_box_loss",
    "val/cls_loss": "val_cls_loss",
    "val/dfl_loss": "val_dfl_loss",
    "metrics/precision(B)": "precision",
    "metrics/recall(B)": "recall",
    "metrics/mAP50(B)": "map50",
    "metrics/mAP50-95(B)": "map50_95",
}


def run(task: TrainingTask, place: Place, reporter: Reporter) -> Mapping[str, Any]:
    """Train or go on; the leader leaves model.safetensors and the figures of the best epoch."""
    last = task.folder / "weights" / "last.pt"
    found = _checkpoint(last)
    if found is None or not _finished(found, task.parameters):
        begun = found is not None and int(found["epoch"]) >= 0
        trainer = YoloTrainer(task, place, reporter, last if begun else None)
        torch.set_num_threads(place.threads)
        trainer.train()
        found = _checkpoint(last) if place.leads else None
    if not place.leads or found is None:
        return {}
    figures = _conclude(task, found)
    if figures["best_epoch"] == 0:
        reporter.log(basics.NOT_BETTER)
    return figures


class YoloTrainer(DetectionTrainer):  # type: ignore[misc]
    """One of `place.count` equal processes; Ray has made the process group where there are more."""

    def __init__(
        self, task: TrainingTask, place: Place, reporter: Reporter, resume: Path | None
    ) -> None:
        self.task_, self.place, self.reporter = task, place, reporter
        self.meter = basics.EpochMeter(reporter, task.parameters.epochs)
        overrides = _overrides(task, place, len(task.data.of(Split.TRAIN)))
        if resume is not None:
            overrides |= {"resume": str(resume), "model": str(resume)}
        super().__init__(overrides=overrides, _callbacks=_callbacks())
        self.world_size, self.ddp = place.count, False
        self.device = torch.device(place.device)
        self.drift = self.pace = 0.0
        if resume is None and basics.knows_all(task):
            self.add_callback("on_train_start", YoloTrainer._judged_start)
        self.add_callback("on_train_epoch_end", YoloTrainer._compared)
        if place.leads:
            self.add_callback("on_train_batch_end", YoloTrainer._told_batch)
            self.add_callback("on_fit_epoch_end", YoloTrainer._told_epoch)

    def get_dataset(self) -> dict[str, Any]:
        """Our examples; the paths that Ultralytics wants to see name only the split."""
        data = self.task_.data
        self.splits = {
            "train": data.of(Split.TRAIN),
            "val": basics.judged_on(data, self.reporter if self.place.leads else basics.Silent()),
        }
        return _described(data.classes)

    def build_dataset(self, img_path: str, mode: str = "train", batch: int | None = None) -> Any:
        """The pictures of a split, without any file beside them."""
        return _pictures(self.splits[img_path], self.data, self.args, mode == "train", batch)

    def setup_model(self) -> Any:
        """The network: resumed, from start weights (classes matched by name), or a fresh one."""
        if self.resume:
            return super().setup_model()
        classes, parameters = self.task_.data.classes, self.task_.parameters
        if self.task_.start is None:
            _, self.model = yolo_network.fresh(
                parameters.variant or "n", classes, parameters.image_size
            )
            return None
        header, source = yolo_network.read(self.task_.start)
        self.model = self.get_model(dict(header.extra["architecture"]), source, verbose=False)
        return None

    def _setup_train(self) -> None:
        """Ultralytics would wrap the network for CUDA devices by number; wrap it for any device."""
        self.world_size = 1
        super()._setup_train()
        self.model.to(memory_format=torch.channels_last)
        if self.place.device == "cpu" and basics.half(self.task_.parameters, "cpu"):
            _halve(self.model)
        self.world_size = self.place.count
        if self.place.count > 1:
            self.model = torch.nn.parallel.DistributedDataParallel(
                self.model,
                device_ids=[self.device.index] if self.device.type == "cuda" else None,
                find_unused_parameters=True,
                forward_sync_buffers=False,
            )

    def _build_train_pipeline(self) -> None:
        """Each process takes its share of the batch."""
        self.world_size = self.place.count
        super()._build_train_pipeline()
        self.meter.batches = len(self.train_loader)

    def _setup_ddp(self) -> None:
        """Ray has made the process group."""

    def save_model(self) -> bool:
        """Save as Ultralytics does, but a kill or a full disk leaves the old files whole."""
        whole = self.wdir / "last.pt", self.wdir / "best.pt"
        self.last, self.best = (path.with_suffix(".part") for path in whole)
        try:
            super().save_model()
            for path in whole:
                if path.with_suffix(".part").exists():
                    path.with_suffix(".part").replace(path)
        except OSError as error:
            raise Unavailable(f"The checkpoint could not be saved: {error.strerror}.") from error
        finally:
            for path in whole:
                path.with_suffix(".part").unlink(missing_ok=True)
            self.last, self.best = whole
        return True

    def save_metrics(self, metrics: Mapping[str, float]) -> None:
        """The curves go to the reporter, not into a file."""

    def read_results_csv(self) -> dict[str, Any]:
        """There is no such file."""
        return {}

    def final_eval(self) -> None:
        """The best model is evaluated elsewhere, for all families alike."""

    def preprocess_batch(self, batch: dict[str, Any]) -> dict[str, Any]:
        """Count the pictures on their way into the network."""
        self.fed = len(batch["img"]) * self.place.count
        prepared: dict[str, Any] = super().preprocess_batch(batch)
        prepared["img"] = prepared["img"].contiguous(memory_format=torch.channels_last)
        return prepared

    def _judged_start(self) -> None:
        """The start weights are epoch 0: what comes out is never worse than what went in."""
        self.epoch, self.loss = -1, torch.zeros((), device=self.device)
        self.loss_items = dict.fromkeys(LOSSES, self.loss)
        self.metrics, self.fitness = self.validate()
        if self.place.leads:
            self.stopper.best_fitness = self.fitness
            self.save_model()
            self.reporter.log(basics.known(self.metrics["metrics/mAP50(B)"]))

    def _compared(self) -> None:
        self.pace = self.meter.images_per_second
        self.drift = basics.drift(self.model, self.place)

    def _told_batch(self) -> None:
        self.meter.batch(self.epoch, self.fed, sum(float(value) for value in self.tloss.values()))

    def _told_epoch(self) -> None:
        values = {**self.label_loss_items(self.tloss), **(self.metrics or {})}
        figures = {
            ours: float(values[theirs]) for theirs, ours in CURVES.items() if theirs in values
        }
        figures["loss"] = sum(figures.get(name, 0.0) for name in LOSSES)
        figures["drift"] = self.drift
        figures["learning_rate"] = float(next(iter(self.lr.values())))
        figures["images_per_second"] = round(self.pace, 2)
        self.meter.begin_epoch()
        self.reporter.epoch(self.epoch + 1, self.epochs, figures)


def seen(data: TrainingSet, parameters: Parameters, learned: int) -> Iterator[Seen]:
    """Pictures as they come out of a training's data set, changed and mixed."""
    task = TrainingTask(data, None, parameters, Path())
    args = get_cfg(overrides=_overrides(task, Place(), learned))
    made = _pictures(data.examples, _described(data.classes), args, True, len(data.examples))
    for number in range(len(made)):
        made.load_image(number)  # what has been read may become a part of a mosaic
    for number in range(len(made)):
        yield _seen(made[number])


def _seen(found: Mapping[str, Any]) -> Seen:
    """What the loader gives, RGB and boxes by centre and size in shares, as we have it."""
    pixels = np.ascontiguousarray(found["img"].numpy().transpose(1, 2, 0)[:, :, ::-1])
    boxes = found["bboxes"].numpy().astype(np.float64).reshape(-1, 4)
    sides = np.tile(np.array(pixels.shape[1::-1], np.float64), 2)
    low, high = boxes[:, :2] - boxes[:, 2:] / 2, boxes[:, :2] + boxes[:, 2:] / 2
    classes = found["cls"].numpy().astype(np.float64).reshape(-1, 1)
    return Seen(pixels, np.hstack([np.hstack([low, high]) * sides, classes]))


def _pictures(
    examples: tuple[Example, ...],
    described: Mapping[str, Any],
    args: Any,
    learned_from: bool,
    batch: int | None,
) -> dataset.Pictures:
    return dataset.Pictures(
        examples,
        tuple(described["names"].values()),
        imgsz=args.imgsz,
        batch_size=batch,
        augment=learned_from,
        hyp=args,
        rect=not learned_from,
        cache=args.cache or None,
        stride=32,
        pad=0.0 if learned_from else 0.5,
        data=described,
    )


def _described(classes: tuple[str, ...]) -> dict[str, Any]:
    """A data set as Ultralytics describes one."""
    names = dict(enumerate(classes))
    return {"train": "train", "val": "val", "names": names, "nc": len(names), "channels": 3}


def _overrides(task: TrainingTask, place: Place, learned: int) -> dict[str, Any]:
    """Ultralytics' settings; small sets step at each batch, as there are few batches."""
    given = task.parameters
    batch = max(place.count, min(given.batch, learned))
    batch -= batch % place.count
    extra = {THEIRS.get(name, name): v for name, v in given.extra.items() if name not in OURS}
    if "accumulate" in given.extra:
        extra["nbs"] = batch * max(1, int(given.extra["accumulate"]))
    rate = given.learning_rate or (GENTLE if basics.knows_all(task) else 0.0)
    few = learned < FEW
    return {
        "task": "detect",
        "mode": "train",
        "model": f"yolo11{given.variant or 'n'}.yaml",
        "data": "loupe",
        "save_dir": str(task.folder),
        "exist_ok": True,
        "epochs": given.epochs,
        "imgsz": _side(given),
        "batch": batch,
        "nbs": batch if few else 64,
        "seed": given.seed,
        "patience": given.patience,
        "device": place.device.removeprefix("cuda:"),
        "workers": 4,
        "amp": "bf16" if place.device != "cpu" and basics.half(given, place.device) else False,
        "deterministic": False,
        "plots": False,
        "verbose": False,
        "close_mosaic": max(1, given.epochs // (2 if few else 4)),
        "warmup_epochs": min(3.0, given.epochs / 10),
        # A start model's biases are good; Ultralytics would throw them about in the warm-up.
        "warmup_bias_lr": 0.0,
        **({"mosaic": 0.5, "scale": 0.2} if few else {}),
        **({"lr0": rate, "optimizer": "AdamW"} if rate else {}),
        **extra,
    }


def _side(parameters: Parameters) -> int:
    """The network sees sides in steps of 32."""
    return -(-parameters.image_size // 32) * 32


def _halve(network: Any) -> None:
    """Compute in bfloat16 on a processor too, which Ultralytics does on graphics cards only."""
    whole = network.loss

    def loss(batch: Any, preds: Any = None) -> Any:
        with torch.autocast("cpu", torch.bfloat16):
            return whole(batch, preds)

    network.loss = loss


def _callbacks() -> defaultdict[str, list[Any]]:
    """An own, empty table: Ultralytics' default callbacks report to services."""
    table: defaultdict[str, list[Any]] = defaultdict(list)
    table["on_train_start"] = []
    return table


def _checkpoint(path: Path) -> dict[str, Any] | None:
    if not path.is_file():
        return None
    found: dict[str, Any] = tasks.torch_safe_load(str(path), safe_only=True)[0]
    return found


def _finished(checkpoint: Mapping[str, Any], parameters: Parameters) -> bool:
    """Whether all epochs were done, or patience had run out, when the checkpoint was saved."""
    done = int(checkpoint["epoch"]) + 1
    best = int((checkpoint.get("stopper") or {}).get("best_epoch", 0))
    return done >= parameters.epochs or (
        parameters.patience > 0 and done - best >= parameters.patience
    )


def _conclude(task: TrainingTask, last: Mapping[str, Any]) -> Mapping[str, Any]:
    """Write the best epoch's network in our format and say what it reached."""
    best = _checkpoint(task.folder / "weights" / "best.pt") or last
    network = best["ema"].float()
    header = yolo_network.describe(network, task.data.classes, _side(task.parameters))
    yolo_network.save(task.folder / "model.safetensors", header, network)
    reached = {CURVES[k]: v for k, v in (best.get("train_metrics") or {}).items() if k in CURVES}
    return {"epochs": int(last["epoch"]) + 1, "best_epoch": int(best["epoch"]) + 1, **reached}

"""Ultralytics, kept quiet and off the network: call `prepare` before anything imports it."""

from __future__ import annotations

import logging
import os

from PIL import Image

from backend import settings
from backend.errors import Unavailable

SETTINGS = {
    "YOLO_OFFLINE": "true",
    "YOLO_AUTOINSTALL": "false",
    "YOLO_VERBOSE": "false",
}
# Ultralytics then unpickles and builds nothing but layers: no wish of the environment undoes it.
WALLS = {"ULTRALYTICS_SAFE_LOAD": "1"}
OFF = ("sync", "mlflow", "raytune", "clearml", "comet", "dvc", "tensorboard", "wandb", "hub")


def environment() -> dict[str, str]:
    """What must be set in the environment of each process that imports Ultralytics."""
    return {**SETTINGS, **WALLS, "YOLO_CONFIG_DIR": str(settings.current().cache / "ultralytics")}


def prepare() -> None:
    """Set the environment, import Ultralytics and switch off all that reports or downloads.

    Ultralytics puts an opener of its own into Pillow, which wants to install a library when it
    meets a file that is no picture: Pillow's own is put back.
    """
    for name, value in environment().items():
        os.environ.setdefault(name, value)
    os.environ.update(WALLS)
    (settings.current().cache / "ultralytics").mkdir(parents=True, exist_ok=True)
    opener = Image.open
    from ultralytics import utils

    Image.open = opener
    if not utils.SAFE_LOAD:
        raise Unavailable(f"Ultralytics was imported before its walls stood: {', '.join(WALLS)}.")
    utils.LOGGER.setLevel(logging.ERROR)
    if any(utils.SETTINGS.get(name) for name in OFF):
        utils.SETTINGS.update({name: False for name in OFF if name in utils.SETTINGS})

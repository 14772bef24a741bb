"""What is measured of a model, as it is kept and as pages read it; an evaluation has some of it."""

from __future__ import annotations

from typing import NotRequired

from typing_extensions import TypedDict  # pydantic reads typing's own from Python 3.12 on only


class ClassFigures(TypedDict, total=False):
    """How well one class is found; None where nothing was there to be found."""

    truths: int
    ap: float | None
    ap50: float | None
    ap50_95: float | None
    score: float
    precision: float | None
    recall: float | None
    f1: float | None


class Confusion(TypedDict):
    """Rows are what is there, columns what was said, at a least score.

    `run` has the pictures of the cells, where these are classified.
    """

    labels: list[str]
    matrix: list[list[int]]
    score: NotRequired[float]
    run: NotRequired[int]


class ReliabilityPart(TypedDict):
    """How sure a classifier is of the pictures in a part of its confidence, and how often right."""

    begin: float
    images: int
    confidence: float
    accuracy: float


class CurvePoints(TypedDict):
    """The precision, and the score that gives it, at each recall."""

    recall: list[float]
    precision: list[float]
    score: list[float]


class SizeFigures(TypedDict):
    """How well boxes of one size are found."""

    truths: int
    map: float | None
    map50: float | None
    map50_95: float | None


class Metrics(TypedDict, total=False):
    """The figures that lists show; intervals hold 95 %."""

    split: str
    iou: float
    images: int
    truths: int
    score: float
    map: float | None
    map50: float | None
    map50_95: float | None
    accuracy: float | None
    top3: float | None
    top5: float | None
    macro_f1: float | None
    ece: float | None
    interval: list[float] | None
    intervals: dict[str, list[float] | None]
    per_class: dict[str, ClassFigures]


class Evaluation(Metrics, total=False):
    """The figures with what is drawn of them."""

    curves: dict[str, CurvePoints]
    confusion: Confusion
    reliability: list[ReliabilityPart]
    sizes: dict[str, SizeFigures]


class FigureDifference(TypedDict):
    """How much better one model is; `better` is None where the interval has zero in it."""

    difference: float | None
    interval: list[float] | None
    better: bool | None


class PictureCount(TypedDict):
    """A number of pictures, with its 95 % interval."""

    images: int
    interval: list[float] | None


class ImageDifference(TypedDict):
    """What one model gained and lost in an image, and how many more false calls it has.

    That is boxes, or of a classified picture its class.
    """

    image: str
    image_id: int
    gained: int
    lost: int
    false_calls: int


class Against(TypedDict, total=False):
    """What a model differs in from another one; `run` is the newer one's."""

    model: str
    model_id: int
    family: str
    run: int
    iou: float
    compared: int
    learned: int
    map: FigureDifference
    map50: FigureDifference
    map50_95: FigureDifference
    accuracy: FigureDifference
    gained: PictureCount
    lost: PictureCount
    per_class: dict[str, FigureDifference]
    images: list[ImageDifference]


class RuntimeWorth(TypedDict, total=False):
    """What a runtime and precision of a model is worth, or why it cannot be had."""

    runtime: str
    precision: str
    map50: float | None
    map50_95: float | None
    accuracy: float | None
    ece: float | None
    images_per_second: float
    refused: str

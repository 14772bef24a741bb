"""The networks of the family faster_rcnn, knowing nothing yet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import nn
from torchvision.models import mobilenet_v2
from torchvision.models.detection import (
    FasterRCNN,
    fasterrcnn_resnet50_fpn,
    fasterrcnn_resnet50_fpn_v2,
)
from torchvision.models.detection.anchor_utils import AnchorGenerator
from torchvision.models.detection.backbone_utils import BackboneWithFPN
from torchvision.ops import misc

from backend.errors import Invalid

# Where the names of a detector, of a plain ResNet, and of MobileNet's features go.
RENAMED = (("", ""), ("", "backbone.body."), ("features.", "backbone.body."))
LEAST_SCORE = 0.01
MOST = 300
# The last layers of MobileNet v2 with strides 8, 16 and 32, and what they give.
LEVELS = {"6": "0", "13": "1", "18": "2"}
CHANNELS = [32, 96, 1280]
ANCHORS = ((16, 24, 32), (32, 48, 64), (64, 96, 128), (128, 192, 256))
SHAPES = ((0.5, 1.0, 2.0),) * len(ANCHORS)


def known(variant: str) -> str:
    """The variant, or a sentence."""
    if variant not in BUILDERS:
        raise Invalid(f"There is no Faster R-CNN {variant!r}; there are {', '.join(BUILDERS)}.")
    return variant


def build(variant: str, classes: int, image_size: int, frozen: bool) -> nn.Module:
    """A network for that many classes (it counts the background as one more).

    `frozen` keeps batch statistics as the start weights have them: batches are small here.
    """
    options = {
        "min_size": image_size,
        "max_size": image_size,
        "box_score_thresh": LEAST_SCORE,
        "box_detections_per_img": MOST,
    }
    network: nn.Module = BUILDERS[variant](classes + 1, options)
    if frozen:
        _freeze(network)
    return network


def _mobilenet(classes: int, options: dict[str, Any]) -> nn.Module:
    body = BackboneWithFPN(mobilenet_v2(weights=None).features, LEVELS, CHANNELS, 256)
    anchors = AnchorGenerator(ANCHORS, SHAPES)
    network: nn.Module = FasterRCNN(body, classes, rpn_anchor_generator=anchors, **options)
    return network


def _resnet(maker: Callable[..., Any]) -> Callable[..., nn.Module]:
    def build(classes: int, options: dict[str, Any]) -> nn.Module:
        network: nn.Module = maker(
            weights=None, weights_backbone=None, num_classes=classes, **options
        )
        return network

    return build


def _freeze(network: nn.Module) -> None:
    """Put layers without training in place of all batch norms; their numbers keep their names."""
    for name, layer in network.named_children():
        if isinstance(layer, nn.BatchNorm2d):
            setattr(network, name, misc.FrozenBatchNorm2d(layer.num_features, layer.eps))
        else:
            _freeze(layer)


BUILDERS: dict[str, Callable[..., nn.Module]] = {
    "mobilenet": _mobilenet,
    "resnet50": _resnet(fasterrcnn_resnet50_fpn),
    "resnet50_v2": _resnet(fasterrcnn_resnet50_fpn_v2),
}

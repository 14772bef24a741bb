"""The YOLO graph that we run: bytes in, the best rows out, everything else inside.

Ultralytics decodes every anchor. Here the class scores alone choose the anchors worth decoding,
and the swap of colours is folded into the first weights; both make the graph quicker, not other.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from workers.runtimes import patches

KEEP = 500
KEEP_LEVEL = 100
NEVER = -1e4  # the score, before the sigmoid, of a cell that does not exist


class YoloGraph(nn.Module):
    """Wraps a fused ultralytics detection network; see the module's docstring."""

    def __init__(self, network: Any, keep: int = KEEP) -> None:
        super().__init__()
        self.layers = network.model[:-1]
        self.head = network.model[-1]
        self.strides = [float(stride) for stride in self.head.stride]
        self.keep = keep
        first = self.layers[0].conv
        with torch.no_grad():
            first.weight.copy_(first.weight[:, [2, 1, 0]])
        self.ramp: Tensor
        self.register_buffer("ramp", torch.arange(self.head.reg_max, dtype=torch.float32))

    def forward(self, pixels: Tensor) -> Tensor:
        """(n, h, w, 3) bytes in BGR to (n, k, 6) rows, best score first."""
        features = self._features(self._image(pixels))
        scores = torch.cat([_rows(m(f)) for m, f in zip(self.head.cv3, features, strict=True)], 1)
        sides = torch.cat([_rows(m(f)) for m, f in zip(self.head.cv2, features, strict=True)], 1)
        anchors = torch.cat([_anchors(f, s) for f, s in zip(features, self.strides, strict=True)])
        top, chosen = _best(scores.amax(2), self.keep)
        return self._decode(top, _pick(scores, chosen), _pick(sides, chosen), anchors[chosen])

    def _image(self, pixels: Tensor) -> Tensor:
        # Multiplied before the permutation: OpenVINO then merges the latter into its own layout.
        image = pixels.to(self.layers[0].conv.weight.dtype) * (1 / 255)
        return image.permute(0, 3, 1, 2)

    def _features(self, image: Tensor) -> list[Tensor]:
        """The levels that the head looks at, as ultralytics wires its layers."""
        kept: list[Tensor] = []
        last = image
        for layer in self.layers:
            if isinstance(layer.f, int):
                last = layer(last if layer.f == -1 else kept[layer.f])
            else:
                last = layer([last if j == -1 else kept[j] for j in layer.f])
            kept.append(last)
        return [kept[j] for j in self.head.f]

    def _decode(self, top: Tensor, scores: Tensor, sides: Tensor, anchors: Tensor) -> Tensor:
        bins = sides.reshape(*sides.shape[:2], 4, self.head.reg_max).float().softmax(3)
        distance = (bins * self.ramp).sum(3) * anchors[..., 2:]
        centre = anchors[..., :2]
        ramp = torch.arange(scores.shape[2], dtype=torch.float32, device=scores.device)
        # An argmax is a slow sort in OpenVINO; the best class is the one that has the best score.
        label = ((scores >= top.unsqueeze(2)).float() * ramp).amax(2, keepdim=True)
        score = top.float().sigmoid().unsqueeze(2)
        corners = (centre - distance[..., :2], centre + distance[..., 2:])
        return torch.cat((*corners, score, label), 2)


class QuickYoloGraph(YoloGraph):
    """For one picture: the best rows of each level, the boxes of the large levels by patches.

    Of a large level `keep` rows: each costs its 25 cells.

    Rows are sorted within a level. Where the last row of a level is still a sure one, the level
    may have had more of them: then `YoloGraph` must be asked.
    """

    def forward(self, pixels: Tensor) -> Tensor:
        """(1, h, w, 3) bytes in BGR to (1, levels · keep, 6) rows."""
        features = self._features(self._image(pixels))
        # One row of scores for all levels: level by level, OpenVINO would copy each of them twice.
        scores = torch.cat([_rows(m(f)) for m, f in zip(self.head.cv3, features, strict=True)], 1)
        best = scores.amax(2)
        found, start = [], 0
        for i, level in enumerate(features):
            cells = level.shape[2] * level.shape[3]
            keep = KEEP_LEVEL if i + 1 == len(self.strides) else self.keep
            top, chosen = _best(best[:, start : start + cells], keep)
            anchors = _anchors(level, self.strides[i])[chosen]
            rows = _pick(scores, chosen + start)
            found.append(self._decode(top, rows, self._sides(i, level, chosen), anchors))
            start = start + cells
        return torch.cat(found, 1)

    def _sides(self, i: int, features: Tensor, chosen: Tensor) -> Tensor:
        """The smallest level is not worth the patches."""
        if i + 1 == len(self.strides):
            return _pick(_rows(self.head.cv2[i](features)), chosen)
        return patches.sides(self.head.cv2[i], features, chosen[0]).unsqueeze(0)


def _best(best: Tensor, keep: int) -> tuple[Tensor, Tensor]:
    """The cells with the best scores; a small picture's list is filled up with no-cells."""
    top, chosen = functional.pad(best, (0, keep), value=NEVER).topk(keep, dim=1)
    return top, chosen.remainder(best.shape[1])


def _rows(features: Tensor) -> Tensor:
    """(n, c, h, w) to (n, h·w, c), which is how the layers hold it in memory anyway."""
    return features.permute(0, 2, 3, 1).flatten(1, 2)


def _anchors(features: Tensor, stride: float) -> Tensor:
    """Centre and stride of each cell, in pixels of the input."""
    down, across = (
        torch.arange(side, dtype=torch.float32, device=features.device) + 0.5
        for side in features.shape[2:]
    )
    grid = torch.meshgrid(down, across, indexing="ij")
    y, x = (axis.flatten() for axis in grid)
    return torch.stack((x, y, torch.ones_like(x)), 1) * stride


def _pick(rows: Tensor, chosen: Tensor) -> Tensor:
    if rows.shape[0] == 1:  # OpenVINO gathers whole rows much quicker than single elements
        return rows[0].index_select(0, chosen[0]).unsqueeze(0)
    return rows.gather(1, chosen.unsqueeze(2).expand(-1, -1, rows.shape[2]))

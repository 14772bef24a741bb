"""The YOLO graph that we run: bytes in, the best rows out, everything else inside.

Ultralytics decodes every anchor. Here the class scores alone choose the anchors worth decoding,
and the swap of colours is folded into the first weights; both make the graph quicker, not other.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

KEEP = 500


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
        # Multiplied before the permutation: OpenVINO then merges the latter into its own layout.
        image = (pixels.to(self.layers[0].conv.weight.dtype) * (1 / 255)).permute(0, 3, 1, 2)
        features = self._features(image)
        scores = torch.cat([_rows(m(f)) for m, f in zip(self.head.cv3, features, strict=True)], 1)
        sides = torch.cat([_rows(m(f)) for m, f in zip(self.head.cv2, features, strict=True)], 1)
        anchors = torch.cat([_anchors(f, s) for f, s in zip(features, self.strides, strict=True)])
        top, chosen = scores.amax(2).topk(min(self.keep, scores.shape[1]), dim=1)
        return self._decode(top, _pick(scores, chosen), _pick(sides, chosen), anchors[chosen])

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
    return rows.gather(1, chosen.unsqueeze(2).expand(-1, -1, rows.shape[2]))

"""The graphs of torchvision's families that we run: bytes in, rows out, everything else inside."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from workers.families import classifier


class RcnnGraph(nn.Module):
    """Wraps a Faster R-CNN. Pictures come in its own size, so it scales nothing."""

    def __init__(self, network: Any) -> None:
        super().__init__()
        self.network = network
        network.transform.resize = lambda image, target: (image, target)

    def forward(self, pixels: Tensor) -> Tensor:
        """(1, h, w, 3) bytes in BGR to (1, k, 6) rows, best score first."""
        answer = self.network([pixels[0].float().flip(2).permute(2, 0, 1) * (1 / 255)])[0]
        label = answer["labels"].float() - 1  # its class 0 is the background
        rows = torch.cat((answer["boxes"], answer["scores"][:, None], label[:, None]), 1)
        return rows.unsqueeze(0)


class LabelGraph(nn.Module):
    """Wraps a classifier."""

    def __init__(self, network: Any) -> None:
        super().__init__()
        self.network = network
        self.mean: Tensor
        self.spread: Tensor
        self.register_buffer("mean", torch.tensor(classifier.MEAN) * 255)
        self.register_buffer("spread", torch.tensor(classifier.SPREAD) * 255)

    def forward(self, pixels: Tensor) -> Tensor:
        """(n, s, s, 3) bytes in BGR to the probability of each class."""
        image = (pixels.float().flip(3) - self.mean) / self.spread
        return torch.as_tensor(self.network(image.permute(0, 3, 1, 2)).softmax(1))

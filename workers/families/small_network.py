"""The network for small pictures, made to learn from nothing in few epochs on processors.

Its first layer looks at corners of two by two pixels, whitened as the training pictures are, and
is not trained. Each block then halves the picture; the last takes the strongest place of each map.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

LARGEST = 96
WIDTHS = (32, 128, 128)
NARROW_FROM = 48  # larger pictures are halved once more, while there are few maps
CORNER, KINDS = 2, 12  # a corner's side, and how many independent corners of three channels
MOST, EVEN = 400, 5e-4


class SmallNetwork(nn.Module):
    """One logit a class for pictures of up to 96 pixels."""

    def __init__(self, classes: int, image_size: int) -> None:
        super().__init__()
        narrow, *wide = WIDTHS
        widths = [narrow, *([narrow] if image_size > NARROW_FROM else []), *wide]
        before = [2 * KINDS, *widths]
        self.corners = nn.Conv2d(3, 2 * KINDS, CORNER)
        self.corners.weight.requires_grad_(False)
        self.blocks = nn.Sequential(*map(Block, before, widths))
        self.fc = nn.Linear(widths[-1], classes)

    def forward(self, images: Tensor) -> Tensor:
        """(n, 3, s, s) to (n, classes)."""
        maps = self.blocks(functional.gelu(self.corners(images)))
        return torch.as_tensor(self.fc(maps.amax((2, 3))))

    def whiten(self, images: Tensor) -> None:
        """Set the first layer by what corners of these (normalised) pictures look like."""
        patches = functional.unfold(images, CORNER).transpose(1, 2).reshape(-1, KINDS).double()
        spread, kinds = torch.linalg.eigh(patches.T @ patches / len(patches))
        filters = (kinds / (spread + EVEN).sqrt()).T.reshape(KINDS, 3, CORNER, CORNER)
        with torch.no_grad():
            self.corners.weight.copy_(torch.cat((filters, -filters)).float())


class Block(nn.Module):
    """Two convolutions; the picture is halved between the first and what follows it."""

    def __init__(self, before: int, width: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(before, width, 3, padding=1, bias=False)
        self.second = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.norms = nn.ModuleList(nn.BatchNorm2d(width, momentum=0.2) for _ in range(2))

    def forward(self, maps: Tensor) -> Tensor:
        """(n, before, s, s) to (n, width, s / 2, s / 2)."""
        halved = functional.max_pool2d(self.first(maps), 2)
        inner = functional.gelu(self.norms[0](halved))
        return functional.gelu(self.norms[1](self.second(inner)))


def spread_out(count: int) -> list[int]:
    """Some of so many pictures, from the first to the last, to whiten by."""
    return [int(each) for each in np.linspace(0, count - 1, min(MOST, count))]

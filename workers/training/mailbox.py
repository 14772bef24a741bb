"""An actor between the leading training process and the one that follows the training.

In a module of its own, so that its process need not import torch.
"""

from __future__ import annotations

from collections import deque
from typing import Any

Letter = tuple[str, tuple[Any, ...]]


class Mailbox:
    """Letters in their order; of two reports of progress in a row only the newer one stays."""

    def __init__(self) -> None:
        self.letters: deque[Letter] = deque()

    def put(self, letter: Letter) -> None:
        """Add a letter."""
        if letter[0] == "progress" and self.letters and self.letters[-1][0] == "progress":
            self.letters.pop()
        self.letters.append(letter)

    def take(self) -> list[Letter]:
        """All letters, oldest first."""
        taken = list(self.letters)
        self.letters.clear()
        return taken

"""What is true of every home, one row each, asked by `loupe check`; may ask storage alone."""

from __future__ import annotations

from backend.upkeep.invariants import history, leading, repeating, within
from backend.upkeep.invariants.rule import Rule

RULES: tuple[Rule, ...] = (*leading.rules(), *history.RULES, *within.RULES, *repeating.RULES)

"""The boards of a run with their verdicts, and what they add up to; asks the rest of review."""

"""The boards of a run with their verdicts, and what they add up to; may ask what review may ask."""

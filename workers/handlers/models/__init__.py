"""Jobs that make, measure and judge models; may ask rooms up to runs."""

"""Who looks at a run's pictures: processes here, or a cluster's actors; may ask the engine."""

"""What the worker does for each kind of job, one module a kind."""

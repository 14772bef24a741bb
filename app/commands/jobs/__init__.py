"""Commands that follow jobs and look at the workers; may ask jobs, and start a worker."""

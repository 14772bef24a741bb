"""Commands that follow jobs and look at the workers."""

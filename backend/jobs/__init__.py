"""The queue of jobs: the database is the truth, workers only execute; may ask storage alone."""

"""The cluster of the workers: begun, joined, grown and shared; may ask workers and backend."""

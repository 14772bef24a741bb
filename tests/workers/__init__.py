"""The worker: its loop, its cluster, its faults and kills; may ask workers and backend."""

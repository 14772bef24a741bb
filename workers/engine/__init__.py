"""Bulk detection, over processes or a cluster; may ask models, runs, families and runtimes."""

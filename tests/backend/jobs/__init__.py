"""Jobs: the queue, who claims them, what a waiting one is told."""

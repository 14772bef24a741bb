"""Jobs that take projects and put-away images for good; may ask upkeep and jobs."""

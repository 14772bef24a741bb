"""Projects, their classes, people and logins; may ask projects, labels, jobs and upkeep."""

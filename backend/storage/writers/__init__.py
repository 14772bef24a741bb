"""Who writes when: turns on one file, locks on one name, long writes in parts, asking again."""

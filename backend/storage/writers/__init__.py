"""Who writes when: turns, locks, long writes in parts, asking again; may ask storage alone."""

"""How a search chooses what to try, ends a trial, and shows many; may ask trials and storage."""

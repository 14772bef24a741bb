"""How a search chooses what to try, when it ends a trial, and what is shown of many."""

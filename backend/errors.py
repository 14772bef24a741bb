"""What can go wrong, as a tree. Each message is a full sentence for the person who can act on it.

LoupeError
├── NotFound            it does not exist (or not any more)
├── Refused             the request makes no sense as it stands; the message says what would
│   ├── Invalid         a value, file or line is unusable
│   └── Busy            the same thing is already waiting or running
├── Conflict            somebody else changed it first; carries both sides
├── Denied              this person may not do that
├── Cancelled           a person cancelled the job
│   └── Enough          a trial of a search has shown enough; the search goes on
├── LeaseLost           another worker has taken the job over
├── Damaged             bytes of the store are not those that came in
└── Unavailable         a part of the machine is missing or down: library, database, cluster
"""

from __future__ import annotations

from typing import Any


class LoupeError(Exception):
    """Something a person can understand and act on; its text is shown as it is."""


class NotFound(LoupeError):
    """It does not exist, or not any more."""


class Refused(LoupeError):
    """The request makes no sense as it stands."""


class Invalid(Refused):
    """A value, a file or a line is unusable."""


class Busy(Refused):
    """The same thing is already waiting or running."""


class Conflict(LoupeError):
    """Somebody else saved first; `theirs` is what stands now, of an image or of a rule."""

    def __init__(self, message: str, theirs: Any) -> None:
        super().__init__(message)
        self.theirs = theirs


class Denied(LoupeError):
    """This person may not do that."""


class Cancelled(LoupeError):
    """The job was cancelled."""


class Enough(Cancelled):
    """A trial of a search has shown enough."""


class LeaseLost(LoupeError):
    """Another worker has taken this job over; what this one still holds must not be written."""


class Damaged(LoupeError):
    """Bytes are not those that came in: a disk has turned some, or somebody has."""


class Unavailable(LoupeError):
    """A part of the machine is missing or down."""

"""Prints progress."""

from __future__ import annotations

import sys
from datetime import datetime


def note(text: str) -> None:
    """Prints a line with the time to stderr."""
    print(f"{datetime.now():%H:%M:%S} {text}", file=sys.stderr, flush=True)

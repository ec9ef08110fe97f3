"""The exit codes that do not belong to an exception of ours; `errors.py` has the others."""

from typing import Final

BUG: Final = 5
INTERRUPTED: Final = 130

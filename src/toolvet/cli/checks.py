"""Checks by their ids, as several commands take them."""

from difflib import get_close_matches

from toolvet.assess.rules import cards
from toolvet.errors import UsageError
from toolvet.findings import Card


def card_named(check_id: str, *, option: str = "") -> Card:
    """Return the card of a check. Raises UsageError, which names `option` and the ids that are close, without one."""
    known = cards()
    if check_id in known:
        return known[check_id]
    close = get_close_matches(check_id, known, n=3, cutoff=0.5)
    hint = f"; did you mean {' or '.join(close)}?" if close else "; `toolvet explain` lists them all"
    raise UsageError(f"{f'{option}: ' if option else ''}no check is named '{check_id}'{hint}")

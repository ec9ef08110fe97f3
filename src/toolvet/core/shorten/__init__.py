"""Shortens texts for a reader with little room, such as a model: JSON stays JSON, a table keeps its header.

What stands at both ends stays, and so do lines that report a problem and items unlike the others; a mark says what was
left out, and where it stood.

    >>> shorten_text("a b c d " * 100, 60).text
    'a b c d a b c d a b … 771 characters left out … d a b c d '
"""

from toolvet.core.shorten.json_value import shorten_value
from toolvet.core.shorten.text import ShortText, shorten_text

__all__ = ["ShortText", "shorten_text", "shorten_value"]

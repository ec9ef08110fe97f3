"""The cost of a list of tools for a model: about how many tokens a definition has in its context.

A client gives a model the name, the description and the inputSchema of each tool with every request. No tokenizer is
loaded: the pieces are counted into which the published ones cut English and JSON.

    {"name":"get_order"      {"  name  ":"  get  _  order  "     7 pieces

`docs/testing.md` has the error, measured on 11 servers that were not looked at before: the total of a server is within
6 % of o200k (GPT-4o, GPT-5), 8 % of cl100k and Llama 3, and 12 % of Claude 2. Texts in other scripts than Latin differ
by up to a half. The text that a client writes around the definitions comes on top.
"""

import re
from typing import Final

import orjson

from toolvet.core.json_value import members

_PIECE: Final = re.compile(
    r" ?[A-Z]?[a-z]{1,15}| ?[A-Z]{1,15}|[0-9]{1,3}|[!-/:-@\[-`{-~]{1,4}| ?[\x80-\u2fff]{1,4}|\s+|."
)
_LONGEST: Final = 1_000_000  # Characters that are counted.
_SENT: Final = ("name", "description", "inputSchema")  # The other members stay with the client.


def count_tokens(text: str) -> int:
    """About how many tokens a text has; of a very long one the beginning is counted, and the rest is taken to be alike.

    >>> count_tokens('{"name":"get_order","description":"Returns an order."}')
    13
    """
    counted = sum(1 for _ in _PIECE.finditer(text, 0, _LONGEST))
    return counted if len(text) <= _LONGEST else counted * len(text) // _LONGEST


def count_definition(raw: object) -> int:
    """About how many tokens a model reads of an entry of `tools/list`. Total: anything but an object counts 0."""
    sent = {name: value for name, value in members(raw).items() if name in _SENT}
    try:
        return count_tokens(orjson.dumps(sent).decode()) if sent else 0
    except TypeError:
        # Half a surrogate pair, an integer over 64 bits, or too many levels: no model API takes it either.
        return sum(count_tokens(value) for value in sent.values() if isinstance(value, str))

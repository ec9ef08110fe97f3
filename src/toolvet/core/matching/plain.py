r"""Plain words in, a regular expression out: how a phrase is written by people who know no regular expressions.

    I cannot {words:2} help|assist [you]

- Words are found as they are written, between borders of words.
- `a|b` is a or b. Brackets put several words on a side: `(help you|assist)`.
- `[you]` may be there or not; `help[s]` is `help` and `helps`.
- `{words:2}` is a gap of up to two words, `{characters:10}` one of up to ten characters, and any other name stands for
  the part of this name (`toolvet.core.matching.phrasebook`); they stay as they are here.

For the line above `regex_of` returns

    \bI cannot {words:2}(?:help|assist)(?: you)?\b
"""

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

_TOKEN: Final = re.compile(r"(?P<space>\s+)|(?P<mark>[()\[\]|])|(?P<place>\{[^{}]*\})|(?P<word>[^\s()\[\]|{}]+)")
_CLOSING: Final = {"(": ")", "[": "]"}
_WORD_GAP: Final = re.compile(r"\{words:\d+\}")
_CHARACTER_GAP: Final = re.compile(r"\{characters:\d+\}")


def regex_of(say: str) -> str:
    """Return the regular expression for the plain words `say`; names in braces are kept for the caller to fill.

    Raises `ValueError`, whose message says what to write instead, for words that cannot be read.
    """
    words = _Reader(say).sequence("")
    before = r"\b" if all(_is_border(edge) for edge in words.first) else ""
    after = r"\b" if all(_is_border(edge) for edge in words.last) else ""
    return f"{before}{words.regex}{after}"


def regex_of_any(words: Iterable[str]) -> str:
    """Return the regular expression for any of several plain words, without the borders. Raises as `regex_of`."""
    return "|".join(_Reader(each).sequence("").regex for each in words)


_NOTHING_REQUIRED: Final = "it needs a word that must be there: not only gaps and [words in square brackets]"


class _PlainPart(NamedTuple):
    """A part of the line as a regular expression, and what it can begin and end with."""

    regex: str
    first: tuple[str, ...]
    last: tuple[str, ...]
    optional: bool = False
    place: bool = False


class _Reader:
    """Reads one line from left to right."""

    def __init__(self, say: str) -> None:
        self._tokens: list[tuple[str, str]] = []
        reached = 0
        for match in _TOKEN.finditer(say.strip()):
            if match.start() != reached:
                break
            self._tokens.append((match.lastgroup or "", match[0]))
            reached = match.end()
        if reached != len(say.strip()):
            raise ValueError(f"a brace that is not closed, or is not opened, at {say.strip()[reached:]!r}")
        self._at = 0

    def sequence(self, closing: str) -> _PlainPart:
        """Read items up to `closing`, or up to a `|` inside of brackets; the top of the line has no `closing`."""
        items: list[_PlainPart] = []
        while (token := self._peek()) is not None and token != ("mark", closing):
            if token == ("mark", "|") and closing:
                break
            if token[0] == "space":
                self._at += 1
                continue
            items.append(self._item(closing))
        return _joined(items)

    def _item(self, closing: str) -> _PlainPart:
        """What stands between two spaces: one or several pieces; at the top of the line with `|` between."""
        alternatives: list[_PlainPart] = []
        pieces: list[_PlainPart] = []
        while (token := self._peek()) is not None and token[0] != "space":
            if token[0] == "mark" and token[1] in ")]":
                if token[1] == closing:
                    break
                raise ValueError(f"{token[1]!r} closes nothing")
            if token[1] == "|":
                if closing:
                    break
                alternatives.append(_glued(pieces))
                pieces = []
                self._at += 1
                continue
            pieces.append(self._piece())
        if not alternatives:
            return _glued(pieces)
        alternatives.append(_glued(pieces))
        if any(each.optional for each in alternatives):
            raise ValueError(_NOTHING_REQUIRED)
        return _either(alternatives)

    def _piece(self) -> _PlainPart:
        kind, text = self._tokens[self._at]
        self._at += 1
        if kind == "word":
            return _PlainPart(re.escape(text), (text[0],), (text[-1],))
        if kind == "place":
            return _PlainPart(text, ("a",), ("a",), place=True)
        alternatives = [self.sequence(_CLOSING[text])]
        while self._peek() == ("mark", "|"):
            self._at += 1
            alternatives.append(self.sequence(_CLOSING[text]))
        if self._peek() is None:
            raise ValueError(f"{text!r} is not closed")
        self._at += 1
        found = _either(alternatives)
        return found._replace(optional=True) if text == "[" else found

    def _peek(self) -> tuple[str, str] | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None


def _either(alternatives: list[_PlainPart]) -> _PlainPart:
    if len(alternatives) == 1:
        return alternatives[0]
    return _PlainPart(
        f"(?:{'|'.join(map(_whole, alternatives))})",
        tuple(edge for each in alternatives for edge in each.first),
        tuple(edge for each in alternatives for edge in each.last),
    )


def _glued(pieces: list[_PlainPart]) -> _PlainPart:
    """Pieces without a space between them."""
    if not pieces:
        raise ValueError("'|' needs a word on both sides, without spaces; several words need brackets: (a b|c)")
    if len(pieces) == 1:
        return pieces[0]
    if all(each.optional for each in pieces):
        raise ValueError(_NOTHING_REQUIRED)
    return _PlainPart("".join(map(_whole, pieces)), _first(pieces), _last(pieces))


def _joined(items: list[_PlainPart]) -> _PlainPart:
    """Items with spaces between them; an item that may be missing takes its space along."""
    required = [number for number, item in enumerate(items) if not (item.optional or _is_gap(item))]
    if not required:
        raise ValueError(_NOTHING_REQUIRED)
    if _is_gap(items[0]) or _is_gap(items[-1]):
        raise ValueError("a gap needs a word before it and a word after it")
    regex = ""
    for number, item in enumerate(items):
        if _CHARACTER_GAP.fullmatch(item.regex):
            regex = rf"{regex.removesuffix(' ')}\b{item.regex}\b"
        elif _is_gap(item):
            regex += item.regex
        elif number > required[-1]:
            regex += f"(?: {item.regex})?"
        elif item.optional:
            regex += f"(?:{item.regex} )?"
        else:
            regex += item.regex + ("" if number == required[-1] else " ")
    return _PlainPart(regex, _first(items), _last(items))


def _whole(piece: _PlainPart) -> str:
    return f"(?:{piece.regex})?" if piece.optional else piece.regex


def _is_gap(item: _PlainPart) -> bool:
    return item.place and bool(_WORD_GAP.fullmatch(item.regex) or _CHARACTER_GAP.fullmatch(item.regex))


def _first(items: list[_PlainPart]) -> tuple[str, ...]:
    edges: tuple[str, ...] = ()
    for item in items:
        edges += item.first
        if not item.optional:
            break
    return edges


def _last(items: list[_PlainPart]) -> tuple[str, ...]:
    edges: tuple[str, ...] = ()
    for item in reversed(items):
        edges += item.last
        if not item.optional:
            break
    return edges


def _is_border(edge: str) -> bool:
    return edge.isalnum() or edge == "_"

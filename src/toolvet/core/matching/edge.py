r"""`Edge`: the characters that are possible at either end of a part of a pattern, or anywhere in it."""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from toolvet.core.matching.letters import EVERY_SCRIPT, Script, forms_of, script_of
from toolvet.core.matching.tree import Assertion, Char, CharSet, Group, Node, Repeat

_ALL = (1 << 128) - 1
WORD = sum(1 << code for code in range(128) if chr(code).isalnum() or chr(code) == "_")
_ANY_BEYOND = r"[\xc2-\xf4][\x80-\xbf]{1,3}"
# A class with more letters beyond ASCII than this is not listed.
_MOST_LISTED = 64


class Edge(NamedTuple):
    """The characters that are possible at one end of a part.

    `mask` has a bit for each ASCII character, `beyond` the others (None: any), and `scripts` the kinds of both.
    """

    mask: int
    beyond: frozenset[str] | None
    scripts: frozenset[Script]

    def also(self, other: "Edge") -> "Edge":
        """Return the characters that are possible at either edge."""
        beyond = None if self.beyond is None or other.beyond is None else self.beyond | other.beyond
        return Edge(self.mask | other.mask, beyond, self.scripts | other.scripts)

    def meets(self, other: "Edge") -> bool:
        """Whether some character is possible at both edges."""
        if self.mask & other.mask:
            return True
        if self.beyond is None or other.beyond is None:
            return self.beyond != frozenset() and other.beyond != frozenset()
        return not self.beyond.isdisjoint(other.beyond)


NO_LETTERS: frozenset[str] = frozenset()
ANYTHING = Edge(_ALL, None, EVERY_SCRIPT)
NOTHING = Edge(0, NO_LETTERS, frozenset())


def edges(parts: Sequence[Node], *, reverse: bool = False) -> tuple[Edge, bool]:
    """Return what the parts begin (with `reverse`: end) with, and whether they may be empty."""
    edge = NOTHING
    for part in reversed(parts) if reverse else parts:
        if isinstance(part, Assertion):
            continue
        if isinstance(part, Char | CharSet):
            return edge.also(edge_of(part)), False
        if isinstance(part, Repeat):
            inner, empty = edges([part.part], reverse=reverse)
            edge = edge.also(inner)
            if part.least and not empty:
                return edge, False
        if isinstance(part, Group):
            branches = [edges(branch, reverse=reverse) for branch in part.branches]
            for inner, _empty in branches:
                edge = edge.also(inner)
            if not any(empty for _inner, empty in branches):
                return edge, False
    return edge, True


def is_word(edge: Edge) -> bool:
    """Whether only ASCII letters, digits and `_` are possible there."""
    return bool(edge.mask) and not edge.mask & ~WORD and edge.beyond == NO_LETTERS


@lru_cache(maxsize=4096)
def edge_of(node: Char | CharSet) -> Edge:
    """Return what one character can be."""
    if isinstance(node, CharSet):
        mask, beyond = ascii_mask(node), listed(node)
        scripts = EVERY_SCRIPT if beyond is None else frozenset(map(script_of, beyond))
        if mask & WORD:
            scripts |= {Script.SPACED}
        if mask & ~WORD:
            scripts |= {Script.NONE}
        return Edge(mask, beyond, scripts)
    if node.character.isascii():
        forms = {node.character, node.character.swapcase()} if node.fold else {node.character}
    else:
        forms = {form[0] for form in forms_of(node.character)} if node.fold else {node.character}
    mask = sum(1 << ord(form) for form in forms if form.isascii())
    return Edge(mask, frozenset(form for form in forms if not form.isascii()), frozenset(map(script_of, forms)))


def ascii_mask(node: CharSet) -> int:
    """Return the ASCII characters of a class, as bits."""
    mask = 0
    for name in node.named:
        mask |= {"w": WORD, "d": sum(1 << ord(each) for each in "0123456789")}.get(name, 0)
        if name == "s":
            mask |= sum(1 << ord(each) for each in "\t\n\x0b\f\r ")
    for low, high in node.ranges:
        for code in range(ord(low), min(ord(high), 127) + 1):
            mask |= 1 << code
            if node.fold and chr(code).isalpha():
                mask |= 1 << ord(chr(code).swapcase())
    return _ALL & ~mask if node.negated else mask


@lru_cache(maxsize=4096)
def listed(node: CharSet) -> frozenset[str] | None:
    """Return the characters beyond ASCII in the class, in every form, or None for too many to list."""
    if node.negated or "w" in node.named:
        return None
    found: set[str] = set()
    for low, high in node.ranges:
        if ord(high) - max(ord(low), 127) > _MOST_LISTED:
            return None
        for code in range(max(ord(low), 128), ord(high) + 1):
            forms = forms_of(chr(code)) if node.fold else (chr(code),)
            found.update(form for form in forms if len(form) == 1 and not form.isascii())
    return frozenset(found) if len(found) <= _MOST_LISTED else None


def room_of(parts: Sequence[Node]) -> Edge:
    """Return every character that is possible anywhere in the parts."""
    leaves = set(_leaves(parts))
    if not leaves:
        return NOTHING
    rooms = [_room_of_leaf(leaf) for leaf in leaves]
    mask = 0
    beyond: set[str] = set()
    for room in rooms:
        mask |= room.mask
        beyond |= room.beyond or NO_LETTERS
    is_any = any(room.beyond is None for room in rooms)
    return Edge(mask, None if is_any else frozenset(beyond), frozenset().union(*(room.scripts for room in rooms)))


def _leaves(parts: Sequence[Node]) -> Iterator[Char | CharSet]:
    for part in parts:
        if isinstance(part, Repeat):
            yield from _leaves([part.part])
        elif isinstance(part, Group):
            for branch in part.branches:
                yield from _leaves(branch)
        elif isinstance(part, Char | CharSet):
            yield part


@lru_cache(maxsize=4096)
def _room_of_leaf(leaf: Char | CharSet) -> Edge:
    room = edge_of(leaf)
    if isinstance(leaf, Char) and leaf.fold:
        for each in "".join(form for form in forms_of(leaf.character) if len(form) > 1):
            room = room.also(edge_of(Char(each, fold=True)))
    return room


@lru_cache(maxsize=4096)
def char_source(node: Char | CharSet) -> str:
    """Return the character or the class for Hyperscan, which reads bytes; a class too large to list as any letter."""
    if isinstance(node, CharSet):
        ascii_part = f"[{bytes_of(mask)}]" if (mask := ascii_mask(node)) else ""
        beyond = listed(node)
        other = _ANY_BEYOND if beyond is None else byte_forms(sorted(beyond))
        return f"(?:{'|'.join(part for part in (ascii_part, other) if part)})"
    if node.character.isascii():
        return escaped(node.character)
    forms = forms_of(node.character) if node.fold else (node.character,)
    source = byte_forms(form for form in forms if not form.isascii())
    source += "".join(f"|{''.join(map(escaped, form))}" for form in forms if form.isascii())
    # A letter that is an ASCII letter in the other case (dotless i, I) is not also that letter's other case (i).
    flags = "-i:" if any(form.isascii() and form.isalpha() and len(form) == 1 for form in forms) else ":"
    return f"(?{flags}{source})"


@lru_cache(maxsize=4096)
def size_of(node: Char | CharSet) -> int:
    """Return how many bytes the node has at least."""
    if isinstance(node, Char):
        forms = forms_of(node.character) if node.fold else (node.character,)
        return min(len(form.encode()) for form in forms)
    edge = edge_of(node)
    return 1 if edge.mask or not edge.beyond else min(len(each.encode()) for each in edge.beyond)


def any_of(room: Edge) -> str:
    """Return any run of these characters, for Hyperscan; one beyond ASCII means all of them."""
    if room == NOTHING:
        return ""
    beyond = "" if room.beyond == NO_LETTERS else "\\x80-\\xff"
    return f"[{bytes_of(room.mask)}{beyond}]*"


def byte_forms(forms: Iterable[str]) -> str:
    """Return the characters as UTF-8 bytes, place by place: classes are cheaper than choices, and may match more."""
    of_length: dict[int, list[bytes]] = {}
    for form in forms:
        encoded = form.encode()
        of_length.setdefault(len(encoded), []).append(encoded)
    sources: list[str] = []
    for length, several in of_length.items():
        places = [bytes(sorted({each[place] for each in several})) for place in range(length)]
        sources.append("".join(_hex(place) if len(place) == 1 else f"[{_hex(place)}]" for place in places))
    return "|".join(sources)


def _hex(data: bytes) -> str:
    return "".join(f"\\x{byte:02x}" for byte in data)


def bytes_of(mask: int) -> str:
    """Return the ASCII characters of the mask as members of a class."""
    members, code = "", 0
    while code < 128:
        if mask >> code & 1:
            last = code
            while last < 127 and mask >> (last + 1) & 1:
                last += 1
            members += f"\\x{code:02x}" if last == code else f"\\x{code:02x}-\\x{last:02x}"
            code = last
        code += 1
    return members


def escaped(character: str) -> str:
    """Return the character itself for both engines, in or out of a class."""
    if character.isalnum() or character == "_" or not character.isascii():
        return character
    return f"\\x{ord(character):02x}"

r"""`anchor`: what every match of a pattern contains, in a form that Hyperscan finds cheaply.

A phrase with gaps, options and letters of all scripts makes a large automaton, and a short word at its edge is looked
at in every sentence. So Hyperscan is given less than the phrase: its longest words in their order, and between them any
run of the characters that may be there. Whether the phrase itself is there is decided around each place that is
found.

`needed_words`: words of which every match of a pattern contains at least one, for an engine that can only compare.

    \b(?:I|we) (?:can't|cannot) help\b      (" help",)
    \bthank you|thanks\b                    ("thank you", "thanks")

They are in lower case, and looked for in the text in lower case. A pattern without such words (`\d+`) has none, and is
always looked for.
"""

from collections.abc import Sequence as Parts
from dataclasses import dataclass, replace
from itertools import pairwise

from toolvet.core.matching.edge import NOTHING, Edge, any_of, char_source, edge_of, edges, is_word, room_of, size_of
from toolvet.core.matching.letters import forms_of
from toolvet.core.matching.tree import Assertion, Char, CharSet, Group, Node, Repeat

# In bytes: what is left of words whose short ends are cut off, what such an end has less than, what a further word must
# have, and what is too short to be looked for at all. Measured on real answers (benchmarks/scan.py): less lets more
# through that does not match, more makes larger automata.
_LONG_ENOUGH = 6
_SHORT = 4
_LONG = 4
_ANY = 2
_TOO_SHORT = 3
_MOST_BRANCHES = 100
# More words make larger automata, and say little more.
_MOST_WORDS = 2
_LARGEST_CLASS = 8
_SPACE = "\\x20"


@dataclass(frozen=True, slots=True)
class _Piece:
    """Words, or a gap, whose `length` is 0.

    `length` is the least number of bytes, and `room` has the characters that may be there.
    """

    source: str
    length: int
    room: Edge


def anchor(whole: Group) -> str | None:
    """Return what Hyperscan looks for, or None if no word of the pattern is long enough."""
    found = _of_group(whole)
    return found.source if found is not None and found.length >= _TOO_SHORT else None


def _of_group(group: Group) -> _Piece | None:
    sources: dict[str, None] = {}
    lengths: list[int] = []
    for branch in group.branches:
        runs = _choose_runs(_join_runs(_pieces(branch)))
        if not runs or len(lengths) >= _MOST_BRANCHES:
            return None
        sources["".join(run.source if run.length else any_of(run.room) for run in runs)] = None
        lengths.append(sum(run.length for run in runs))
    flags = f"{group.flags}:" if group.flags else ":"
    return _Piece(f"(?{flags}{'|'.join(sources)})", min(lengths), room_of([group]))


def _pieces(sequence: Parts[Node]) -> list[_Piece]:
    """The words and the gaps of a sequence, in order."""
    pieces: list[_Piece] = []
    border = ""
    letters = False
    for number, node in enumerate(sequence):
        if isinstance(node, Assertion):
            letters = False
            if node.name != "\\b":
                continue
            before, may_begin = edges(sequence[:number], reverse=True)
            after, may_end = edges(sequence[number + 1 :])
            if not ((is_word(before) and not may_begin) or (is_word(after) and not may_end)):
                # Only beside what is always an ASCII letter a border is one to Hyperscan, too.
                continue
            if pieces and pieces[-1].length:
                pieces[-1] = replace(pieces[-1], source=pieces[-1].source + "\\b")
            else:
                border = "\\b"
            continue
        exact, room = _exact(node), room_of([node])
        gap = _Piece("", 0, room)
        found = [gap]
        if exact is not None:
            found = [exact]
        elif isinstance(node, Group) and (inner := _of_group(node)) is not None:
            found = [gap, replace(inner, room=room), gap]
        elif isinstance(node, Repeat) and node.least:
            found = [gap, *_pieces([node.part]), gap]
        for piece in found:
            is_letter = isinstance(node, Char)
            word = replace(piece, source=border + piece.source)
            if is_letter and letters:
                last = pieces[-1]
                pieces[-1] = _Piece(last.source + piece.source, last.length + piece.length, last.room.also(piece.room))
            else:
                pieces.append(word)
            border, letters = "", is_letter
    return pieces


def _exact(node: Node) -> _Piece | None:
    """The node, if it is words, and choices of words, from end to end."""
    if isinstance(node, Char):
        return _Piece(char_source(node), size_of(node), edge_of(node))
    if isinstance(node, CharSet):
        edge = edge_of(node)
        is_small = edge.beyond is not None and len(edge.beyond) + edge.mask.bit_count() <= _LARGEST_CLASS
        return _Piece(char_source(node), size_of(node), edge) if is_small else None
    if not isinstance(node, Group) or len(node.branches) > _MOST_BRANCHES:
        return None
    sources: list[str] = []
    lengths: list[int] = []
    for branch in node.branches:
        parts = [_exact(part) for part in branch if not isinstance(part, Assertion)]
        known = [part for part in parts if part is not None]
        if not known or len(known) < len(parts):
            return None
        sources.append("".join(part.source for part in known))
        lengths.append(sum(part.length for part in known))
    flags = f"{node.flags}:" if node.flags else ":"
    return _Piece(f"(?{flags}{'|'.join(sources)})", min(lengths), room_of([node]))


def _join_runs(pieces: list[_Piece]) -> list[_Piece]:
    """Words that follow each other as one, without what is short at their ends; gaps as one, too."""
    runs: list[_Piece] = []
    number = 0
    while number < len(pieces):
        end = number
        while end < len(pieces) and bool(pieces[end].length) == bool(pieces[number].length):
            end += 1
        run = pieces[number:end]
        number = end
        if not run[0].length:
            runs.append(_join_gap(run))
            continue
        first, last = 0, len(run)
        # A space at the end of "the " makes it no longer.
        while last - first > 1 and run[first].source == _SPACE:
            first += 1
        while last - first > 1 and run[last - 1].source == _SPACE:
            last -= 1
        total = sum(piece.length for piece in run[first:last])
        while last - first > 1 and run[first].length < _SHORT and total - run[first].length >= _LONG_ENOUGH:
            total -= run[first].length
            first += 1
        while last - first > 1 and run[last - 1].length < _SHORT and total - run[last - 1].length >= _LONG_ENOUGH:
            last -= 1
            total -= run[last].length
        words = run[first:last]
        whole = _Piece("".join(piece.source for piece in words), total, _join_gap(words).room)
        runs += [*([_join_gap(run[:first])] if first else []), whole, *([_join_gap(run[last:])] if run[last:] else [])]
    return runs


def _join_gap(pieces: list[_Piece]) -> _Piece:
    room = NOTHING
    for piece in pieces:
        room = room.also(piece.room)
    return _Piece("", 0, room)


def _choose_runs(runs: list[_Piece]) -> list[_Piece]:
    """The longest words, and the gaps between them; nothing before or after."""
    by_length = sorted((run.length, -number) for number, run in enumerate(runs) if run.length)
    # A short word alone is in every text; a second one makes it rarer.
    least = _LONG if by_length and by_length[-1][0] >= _LONG_ENOUGH else _ANY
    longest = by_length[-1:] + [run for run in by_length[-_MOST_WORDS:-1] if run[0] >= least]
    chosen = sorted(-number for _length, number in longest)
    if not chosen:
        return []
    kept = [runs[chosen[0]]]
    for before, after in pairwise(chosen):
        if after > before + 1:
            kept.append(_join_gap(runs[before + 1 : after]))
        kept.append(runs[after])
    return kept


_MOST_NEEDED = 200
_LONG_ENOUGH_TO_NEED = 12
_NONE: frozenset[str] = frozenset()
# Its lower case depends on the letters around it.
_SIGMAS = "\u03a3\u03c3\u03c2"


def needed_words(tree: Group) -> tuple[str, ...]:
    """Return the words, sorted; empty if none are needed."""
    return tuple(sorted(_needed_by_group(tree)))


def _needed_by_group(group: Group) -> frozenset[str]:
    words: set[str] = set()
    for branch in group.branches:
        found = _needed_by_sequence(branch)
        words |= found
        if not found or len(words) > _MOST_NEEDED:
            return _NONE
    return frozenset(words)


def _needed_by_sequence(sequence: Parts[Node]) -> frozenset[str]:
    """The best of what each part of the sequence needs: long words say more, and few are found sooner."""
    choices: list[frozenset[str]] = []
    run = ""
    for node in sequence:
        if isinstance(node, Assertion):
            continue
        letter = ""
        if isinstance(node, Char) and node.character.isascii():
            letter = node.character.lower()
        elif isinstance(node, Char) and node.character not in _SIGMAS:
            forms = forms_of(node.character) if node.fold else (node.character,)
            lowered = {form.lower() for form in forms}
            if len(lowered) == 1 and all(len(form) == 1 for form in (*forms, *lowered)):
                # All its forms have this lower case in every text.
                letter = lowered.pop()
        if letter:
            run += letter
            continue
        if run:
            choices.append(frozenset({run}))
        run = ""
        if isinstance(node, Group):
            choices.append(_needed_by_group(node))
        elif isinstance(node, Repeat) and node.least:
            choices.append(_needed_by_sequence((node.part,)))
    if run:
        choices.append(frozenset({run}))
    return max(choices, key=_worth, default=_NONE)


def _worth(words: frozenset[str]) -> tuple[int, int]:
    return min((min(len(word.encode()), _LONG_ENOUGH_TO_NEED) for word in words), default=0), -len(words)

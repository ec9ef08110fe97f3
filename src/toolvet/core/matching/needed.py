r"""`needed_words`: words of which every match of a pattern contains at least one, for an engine that can only compare.

    \b(?:I|we) (?:can't|cannot) help\b      (" help",)
    \bthank you|thanks\b                    ("thank you", "thanks")

They are in lower case, and looked for in the text in lower case. A pattern without such words (`\d+`) has none, and is
always looked for.
"""

from collections.abc import Iterator, Sequence as Parts

from toolvet.core.matching.letters import forms_of
from toolvet.core.matching.tree import Assertion, Char, Group, Node, Repeat

_MOST_WORDS = 200
_LONG_ENOUGH = 12
_NONE: frozenset[str] = frozenset()
# Its lower case depends on the letters around it.
_SIGMAS = "\u03a3\u03c3\u03c2"


def needed_words(tree: Group) -> tuple[str, ...]:
    """Return the words, sorted; empty where none are needed."""
    return tuple(sorted(_of_group(tree)))


def _of_group(group: Group) -> frozenset[str]:
    words: set[str] = set()
    for branch in group.branches:
        found = _of_sequence(branch)
        words |= found
        if not found or len(words) > _MOST_WORDS:
            return _NONE
    return frozenset(words)


def _of_sequence(sequence: Parts[Node]) -> frozenset[str]:
    """The best of what each part of the sequence needs: long words say more, and few are found sooner."""
    return max(_choices(sequence), key=_worth, default=_NONE)


def _choices(sequence: Parts[Node]) -> Iterator[frozenset[str]]:
    run = ""
    for node in sequence:
        if isinstance(node, Assertion):
            continue
        letter = _lower(node) if isinstance(node, Char) else ""
        if letter:
            run += letter
            continue
        if run:
            yield frozenset({run})
        run = ""
        if isinstance(node, Group):
            yield _of_group(node)
        elif isinstance(node, Repeat) and node.least:
            yield _of_sequence((node.part,))
    if run:
        yield frozenset({run})


def _worth(words: frozenset[str]) -> tuple[int, int]:
    return min((min(len(word.encode()), _LONG_ENOUGH) for word in words), default=0), -len(words)


def _lower(node: Char) -> str:
    """The letter in lower case, if all its forms have that lower case in every text; else nothing."""
    if node.character.isascii():
        return node.character.lower()
    forms = forms_of(node.character) if node.fold else (node.character,)
    lowered = {form.lower() for form in forms}
    if len(lowered) > 1 or any(len(form) > 1 for form in (*forms, *lowered)) or node.character in _SIGMAS:
        return ""
    return lowered.pop()

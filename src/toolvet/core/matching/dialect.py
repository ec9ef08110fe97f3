r"""The one regular-expression dialect that both engines match alike, in linear time.

`translate` reads a pattern once and writes it twice. For Hyperscan it writes bytes without Unicode mode, and may write
*more* than the pattern matches: it omits the count of a gap, or a border of letters that Hyperscan does not know. That
keeps the automata small. For `re` it writes exactly the pattern, and `re` decides around each place that Hyperscan
reports. The rules of the dialect:

- A letter is found in upper and lower case in any script, and in the variants of `letters.toml`. An `i` is found as I,
  i and I with a dot; a dotless i as itself and as I, and an `i` never as a dotless one. So Turkish is found in its own
  capitals, and an English I stays what it is.
- `\w` is a letter, mark or digit of any script, or `_`; `\d` and `\s` are ASCII (special spaces are read as spaces).
- `\b` is a border between a letter and none, in any script (é, я, मैं); and, because a phrase must be found beside
  Chinese or Japanese text, also between Hangul and other letters, and beside every letter of a script that puts no
  spaces between words, where it asks for nothing.
- Zero-width characters, accents in two parts and such (`letters`) are normalized in the pattern as in the text.
- A lazy quantifier is read as a greedy one.
"""

import re
from collections.abc import Mapping, Sequence as Nodes
from functools import lru_cache
from typing import NamedTuple

from toolvet.core.matching.anchor import anchor, needed_words
from toolvet.core.matching.edge import (
    ANYTHING,
    NO_LETTERS,
    NOTHING,
    WORD,
    Edge,
    bytes_of,
    char_source,
    edge_of,
    edges,
    escaped,
    is_word,
)
from toolvet.core.matching.letters import (
    Script,
    as_ascii,
    family_of,
    forms_of,
    letters,
    normalize_text,
    script_of,
    settled_unit,
)
from toolvet.core.matching.machine import PatternPart
from toolvet.core.matching.pattern import Translation
from toolvet.core.matching.syntax import parse
from toolvet.core.matching.tree import Assertion, Char, CharSet, Group, Node, Repeat, Sequence, UnsafePattern

_MEANT_FLAGS = re.IGNORECASE | re.MULTILINE | re.DOTALL
# The dialect decides which characters are letters.
_KNOWN_FLAGS = _MEANT_FLAGS | re.UNICODE | re.ASCII
_NAMED = {"w": "A-Za-z0-9_", "d": "0-9", "s": "\t\n\x0b\f\r "}
# A counted repeat of any character with more room than this is written without its count for Hyperscan.
_WIDE_GAP = 8
_LARGEST_RANGE = 1_200
# In how many ways `re` may try one place before another matcher is asked.
_MOST_WAYS = 20_000
# The same for what a match begins with, where another matcher decides.
_MOST_OPENING_WAYS = 200
_ENDLESS = 256
_MOST_DOUBTFUL = 16
# A pattern of ASCII words that is no longer than this is looked for as it is.
_SMALL = 400
# A phrase whose place does not matter is searched as it is, up to this length. Of seven phrases whose anchors are in a
# short error, four do not match, and each of those costs `re` 3 µs.
_LARGE = 4_000
# How far a repeat without end is looked for, if it is of letters, digits or spaces alone.
_LONGEST_WORD = 48
_BETWEEN_WORDS = Edge(1 << ord(" "), NO_LETTERS, frozenset())
_IN_WORDS = Edge(WORD, None, frozenset())
_NEVER = float("inf")
_SPACED = frozenset({Script.SPACED})
_NUKTA = "\u093c"


def translate(regex: str, flags: re.RegexFlag, *, spans: bool) -> Translation:
    """Return `regex` written for both engines; raises `UnsafePattern`. `spans` says whether starts are wanted."""
    if flags & ~_KNOWN_FLAGS:
        raise UnsafePattern(regex, f"the flags {flags & ~_KNOWN_FLAGS!r} are not known")
    prepared = as_ascii(regex)
    if not prepared.isascii():
        prepared, _ = normalize_text(prepared)
    try:
        tree = parse(prepared, flags)
    except UnsafePattern as problem:
        raise UnsafePattern(regex, problem.problem) from None
    cjk = any(script_of(each) is Script.UNSPACED for each in prepared if not each.isascii())
    tree = _settle_group(tree, {**letters().variants, **(letters().cjk_variants if cjk else {})})
    writer = _DialectWriter()
    whole = writer.write_group(tree, NOTHING)
    if not whole.least:
        raise UnsafePattern(regex, "it matches the empty text, so it is found everywhere")
    is_plain = len(whole.hyperscan) <= _SMALL and _is_plain(tree)
    sought = None if is_plain else anchor(tree)
    exact = whole.exact and not sought
    if not spans and whole.most is not None and len(whole.hyperscan) <= _LARGE:
        sought = None
    needs_machine = whole.ways > _MOST_WAYS
    first, _ = edges([tree])
    # A look-ahead at the first character, so that `re` need not try all branches at every place.
    ahead = "" if first.beyond is None else f"(?-i:(?=[{bytes_of(first.mask)}{''.join(sorted(first.beyond))}]))"
    opening, reach = writer.write_opening(tree, NOTHING) if needs_machine else ("", 0)
    return Translation(
        regex,
        int(flags & _MEANT_FLAGS),
        spans,
        sought or whole.hyperscan,
        ahead,
        whole.python,
        whole.most,
        exact,
        min(_families([tree]), default=""),
        whole.tree if needs_machine else None,
        opening,
        reach,
        needed_words(tree),
    )


def _settle_group(group: Group, twins: Mapping[str, tuple[str, ...]]) -> Group:
    branches = ((each for node in branch for each in _settle_node(node, twins)) for branch in group.branches)
    return Group(tuple(map(tuple, branches)), group.flags)


def _settle_node(node: Node, twins: Mapping[str, tuple[str, ...]]) -> list[Node]:
    """The node as `letters` and the spellings of Hindi and Chinese normalize it: nothing, itself, or several nodes.

    `twins` are punctuation marks that are written for each other.
    """
    if isinstance(node, Char):
        if node.character.isascii():
            alike = (node.character, *twins.get(node.character, ()))
            ranges = tuple((each, each) for each in alike)
            return [CharSet(ranges, "", negated=False, fold=False) if len(alike) > 1 else node]
        if node.character == _NUKTA:
            return [Repeat(node, 0, 1)]  # It is often left out.
        return [Char(each, node.fold) for each in settled_unit(node.character)]
    if isinstance(node, CharSet):
        members = [each for each in node.ranges if each[0] != each[1] or settled_unit(each[0])]
        if node.ranges and not members and not node.named:
            return []
        for low, high in tuple(members):
            if low == high and not low.isalnum():
                members += [(twin, twin) for twin in twins.get(low, ()) if len(twin) == 1]
        return [node._replace(ranges=tuple(members))]
    if isinstance(node, Group):
        return [_settle_group(node, twins)]
    if isinstance(node, Repeat):
        parts = _settle_node(node.part, twins)
        if not parts:
            return []
        single = len(parts) == 1 and not isinstance(parts[0], Repeat)
        return [Repeat(parts[0] if single else Group((tuple(parts),), ""), node.least, node.most)]
    return [node]


def _families(parts: Nodes[Node]) -> set[str]:
    """The families of scripts of which every match of the parts has a letter."""
    needed: set[str] = set()
    for part in parts:
        if isinstance(part, Char | CharSet):
            edge = edge_of(part)
            families = {family_of(letter) for letter in edge.beyond or ()}
            if not edge.mask and len(families) == 1:
                needed |= families - {""}
        elif isinstance(part, Group):
            first, *others = (_families(branch) for branch in part.branches)
            needed |= first.intersection(*others)
        elif isinstance(part, Repeat) and part.least:
            needed |= _families([part.part])
    return needed


def _is_plain(group: Group) -> bool:
    """Whether it is ASCII words and choices of them, which Hyperscan finds exactly and fast as they are."""
    for branch in group.branches:
        for node in branch:
            if isinstance(node, Repeat):
                if node.most != 1 or not _is_plain(Group(((node.part,),), "")):
                    return False
            elif isinstance(node, Group):
                if not _is_plain(node):
                    return False
            elif isinstance(node, Char | CharSet) and edge_of(node).beyond != NO_LETTERS:
                return False
    return True


class WrittenPart(NamedTuple):
    """One part, written for both engines.

    `least` and `most` are its length in characters, `exact` says that Hyperscan finds just what `re` finds, and `ways`
    counts the ways in which `re` may try it at one place.
    """

    hyperscan: str
    python: str
    least: int
    most: int | None
    exact: bool
    ways: float
    tree: PatternPart


class _DialectWriter:
    """Writes a tree for both engines, node by node."""

    def write_group(self, group: Group, after: Edge) -> WrittenPart:
        """Write a group; `after` has the characters that can follow it."""
        branches = [self._write_sequence(branch, after) for branch in group.branches]
        flags = f"{group.flags}:" if group.flags else ":"
        most = None if any(each.most is None for each in branches) else max(each.most or 0 for each in branches)
        ways = [each.ways for each in branches]
        return WrittenPart(
            f"(?{flags}{'|'.join(each.hyperscan for each in branches)})",
            f"(?{flags}{'|'.join(each.python for each in branches)})",
            min(each.least for each in branches),
            most,
            all(each.exact for each in branches),
            _ways_of_branches(group.branches, ways),
            PatternPart("any", parts=tuple(each.tree for each in branches)),
        )

    def write_opening(self, group: Group, after: Edge) -> tuple[str, int]:
        """What every match of a group begins with, for `re`, and its greatest length in characters.

        It ends where `re` would have to try too much; it may be empty.
        """
        openings = [self._write_opening_of(branch, after) for branch in group.branches]
        if not all(opening for opening, _reach in openings):
            return "", 0
        flags = f"{group.flags}:" if group.flags else ":"
        return f"(?{flags}{'|'.join(opening for opening, _ in openings)})", max(reach for _, reach in openings)

    def _write_opening_of(self, sequence: Sequence, after: Edge) -> tuple[str, int]:
        known, opening, reach, length, ways = "", "", 0, 0, 1.0
        for number, part in enumerate(sequence):
            written = self._write_part(sequence, number, after)
            ways *= written.ways
            if written.most is None or ways > _MOST_OPENING_WAYS:
                inner = part.part if isinstance(part, Repeat) and part.least else part
                deeper, more = self.write_opening(inner, ANYTHING) if isinstance(inner, Group) else ("", 0)
                return (opening + deeper, reach + more) if deeper else (known, length)
            opening += written.python
            reach += written.most
            if written.least or not isinstance(part, Repeat):
                # An optional part decides nothing unless something follows.
                known, length = opening, reach
        return known, length

    def _write_part(self, sequence: Sequence, number: int, after: Edge) -> WrittenPart:
        part = sequence[number]
        follows, may_end = edges(sequence[number + 1 :])
        if isinstance(part, Assertion):
            before, may_begin = edges(sequence[:number], reverse=True)
            return _write_assertion(part, ANYTHING if may_begin else before, ANYTHING if may_end else follows)
        return self._write_node(part, follows.also(after) if may_end else follows)

    def _write_sequence(self, sequence: Sequence, after: Edge) -> WrittenPart:
        written = [self._write_part(sequence, number, after) for number in range(len(sequence))]
        ways = 1.0
        for each in written:
            ways *= each.ways
        bounded = all(each.most is not None for each in written)
        return WrittenPart(
            "".join(each.hyperscan for each in written),
            "".join(each.python for each in written),
            sum(each.least for each in written),
            sum(each.most or 0 for each in written) if bounded else None,
            all(each.exact for each in written),
            ways,
            PatternPart("all", parts=tuple(each.tree for each in written)),
        )

    def _write_node(self, node: Node, after: Edge) -> WrittenPart:
        if isinstance(node, Char):
            return _write_char(node)
        if isinstance(node, CharSet):
            return _write_char_set(node)
        if isinstance(node, Group):
            return self.write_group(node, after)
        if isinstance(node, Repeat):
            return self._write_repeat(node, after)
        if isinstance(node, Assertion):
            return _write_assertion(node, ANYTHING, ANYTHING)
        raise TypeError(f"{type(node).__name__}: `parse` refuses it")

    def _write_repeat(self, node: Repeat, after: Edge) -> WrittenPart:
        again, _ = edges([node.part])
        # What `re` may try in several ways: one more of these, or on with what follows.
        doubtful = again.meets(after)
        body = self._write_node(node.part, after.also(again) if node.most is None or node.most > 1 else after)
        # Words, numbers and spaces end soon.
        is_bounded = node.most is not None or not again.meets(_BETWEEN_WORDS) or not again.meets(_IN_WORDS)
        longest = _LONGEST_WORD if node.most is None else node.most
        most = body.most * longest if body.most is not None and is_bounded else None
        room = (_ENDLESS if node.most is None else node.most) - node.least
        ways = body.ways
        if ways != 1 and node.most != 1:
            ways = _NEVER if node.most is None or node.most > _MOST_DOUBTFUL else ways**node.most
        ways *= 1.0 + room if doubtful else 1.0
        if node.most is None:
            count = {0: "*", 1: "+"}.get(node.least, f"{{{node.least},}}")
        else:
            count = "?" if (node.least, node.most) == (0, 1) else f"{{{node.least},{node.most}}}"
        python = f"(?:{body.python}){count}" if len(body.python) > 1 else body.python + count
        hyperscan, exact = f"(?:{body.hyperscan}){count}", body.exact
        if isinstance(node.part, CharSet) and again.beyond != NO_LETTERS and (node.most is None or room >= _WIDE_GAP):
            # Any byte beyond ASCII will do, and a gap is one that has any length.
            hyperscan = f"[{bytes_of(again.mask)}\\x80-\\xff]{'+' if node.least else '*'}"
            exact = node.most is None and node.least <= 1
        tree = PatternPart("times", parts=(body.tree,), least=node.least, most=node.most)
        return WrittenPart(hyperscan, python, node.least * body.least, most, exact, ways, tree)


def _write_assertion(node: Assertion, before: Edge, after: Edge) -> WrittenPart:
    if node.name not in ("\\b", "\\B"):
        name = "\\Z" if node.name == "\\z" else node.name
        return WrittenPart(node.name, name, 0, 0, exact=True, ways=1, tree=PatternPart("at", name))
    # ASCII borders are what Hyperscan knows; beside anything but an ASCII letter it must not be asked.
    known = is_word(before) or is_word(after)
    if node.name == "\\B":
        return WrittenPart("", "\0B", 0, 0, exact=False, ways=1, tree=PatternPart("at", "\0B"))
    hyperscan = "\\b" if known else ""
    beyond_ascii = any(not edge.mask and edge.beyond != NO_LETTERS for edge in (before, after))
    python = "\0b"
    if after.scripts == _SPACED:
        python = "\0<"
    elif before.scripts == _SPACED:
        python = "\0>"
    elif Script.UNSPACED in (*_only_script(after), *_only_script(before)):
        python = ""
    elif Script.HANGUL in _only_script(after):
        python = "\0["
    elif Script.HANGUL in _only_script(before):
        python = "\0]"
    tree = PatternPart("at", python)
    return WrittenPart(hyperscan, python, 0, 0, exact=known or beyond_ascii, ways=1, tree=tree)


def _only_script(edge: Edge) -> frozenset[Script]:
    """The script, if there is only one."""
    return edge.scripts if len(edge.scripts) == 1 else frozenset()


@lru_cache(maxsize=4096)
def _write_char(node: Char) -> WrittenPart:
    forms = forms_of(node.character) if node.fold and not node.character.isascii() else (node.character,)
    source = char_source(node)
    if len(forms) == 1:
        python = escaped(node.character)
        return WrittenPart(source, python, 1, 1, exact=True, ways=1, tree=_one_character(python, fold=node.fold))
    flags = source[: source.index(":") + 1]
    single = "|".join(escaped(form) for form in forms if len(form) == 1)
    tree = _one_character(f"{flags}{single})", fold=node.fold and flags == "(?:")
    long = [form for form in forms if len(form) > 1]
    if long:
        spelled = (PatternPart("all", parts=tuple(_one_character(each, fold=True) for each in form)) for form in long)
        tree = PatternPart("any", parts=(tree, *spelled))
    python = f"{flags}{'|'.join(''.join(map(escaped, form)) for form in forms)})"
    return WrittenPart(source, python, 1, max(map(len, forms)), exact=True, ways=1, tree=tree)


@lru_cache(maxsize=4096)
def _write_char_set(node: CharSet) -> WrittenPart:
    members = "".join(f"{_NAMED[name]}" if name != "w" else "\\w\0m" for name in node.named)
    for low, high in node.ranges:
        members += escaped(low) if low == high else f"{escaped(low)}-{escaped(high)}"
        if node.fold and ord(high) > 127 and ord(high) - ord(low) <= _LARGEST_RANGE:
            codes = range(max(ord(low), 128), ord(high) + 1)
            forms = {form for code in codes for form in forms_of(chr(code)) if len(form) == 1 and not form.isascii()}
            members += "".join(sorted(forms - {chr(code) for code in codes}))
    python = f"[{'^' if node.negated else ''}{members}]" if members else "(?s:.)"
    if "w" in node.named:
        python = f"(?u:{python})"
    return WrittenPart(char_source(node), python, 1, 1, exact=True, ways=1, tree=_one_character(python, fold=node.fold))


def _one_character(source: str, *, fold: bool) -> PatternPart:
    """One character for the machine, which does not know the flags of the groups around it."""
    return PatternPart("one", f"(?{'' if fold else '-'}i:{source})")


def _ways_of_branches(branches: tuple[Sequence, ...], ways: list[float]) -> float:
    """The most ways in which branches that can begin with the same letters can be tried, all added."""
    if len(branches) == 1:
        return ways[0]
    # The letters that each branch begins with, as far as they are certain.
    words: list[str] = []
    for branch in branches:
        word = ""
        for node in branch:
            if isinstance(node, Assertion):
                continue
            if not isinstance(node, Char) or node.character in "\u0131\u0130":
                break
            word += node.character.casefold()
        words.append(word)
    most = 0.0
    # Branches whose first letters begin the next ones' first letters.
    chain: list[tuple[str, float]] = []
    for word, each in sorted(zip(words, ways, strict=True)):
        while chain and not word.startswith(chain[-1][0]):
            chain.pop()
        chain.append((word, each))
        most = max(most, sum(ways for _word, ways in chain))
    return most

"""Counts of steps, for tests of what is promised to be linear: the same on every machine, however busy it is."""

import re
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

_OPERATIONS = re._constants  # type: ignore[attr-defined]


def lines_run(work: Callable[[], object]) -> int:
    """How many lines of Python `work` runs."""
    count = 0

    def trace(_frame: FrameType, event: str, _argument: object) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def regex_steps(pattern: re.Pattern[str], text: str) -> int:
    """How many characters a matcher that tries one way after the other, as `re` does, looks at to find all matches."""
    matcher = _Matcher(pattern, text)
    found: list[tuple[int, int]] = []
    at = 0
    while at <= len(text):
        end = matcher.match(at)
        if end is not None:
            found.append((at, end))
        at = max(end or 0, at + 1)
    assert found == [match.span() for match in pattern.finditer(text)], "the count is of another way than that of `re`"
    return matcher.steps


_Then = Callable[[int], int | None]


class _Matcher:
    def __init__(self, pattern: re.Pattern[str], text: str) -> None:
        self.steps = 0
        self._text = text
        self._flags = pattern.flags
        self._tree = list(re._parser.parse(pattern.pattern, pattern.flags))  # type: ignore[attr-defined]

    def match(self, at: int) -> int | None:
        """Where the match that begins at `at` ends."""
        return self._all(self._tree, 0, at, lambda end: end)

    def _all(self, tree: list[Any], number: int, at: int, then: _Then) -> int | None:
        if number == len(tree):
            return then(at)
        operation, value = tree[number]
        return self._one(operation, value, at, lambda end: self._all(tree, number + 1, end, then))

    def _one(self, operation: Any, value: Any, at: int, then: _Then) -> int | None:
        name = operation.name
        if name in {"LITERAL", "NOT_LITERAL", "IN", "ANY"}:
            return then(at + 1) if self._reads(name, value, at) else None
        if name == "AT":
            return then(at) if self._is_at(value.name, at) else None
        if name == "SUBPATTERN":
            if value[1] or value[2]:
                raise NotImplementedError("flags of a part")
            return self._all(list(value[3]), 0, at, then)
        if name == "BRANCH":
            ways = (self._all(list(branch), 0, at, then) for branch in value[1])
            return next((end for end in ways if end is not None), None)
        if name in {"ASSERT", "ASSERT_NOT"}:
            start = at if value[0] == 1 else at - value[1].getwidth()[0]
            holds = start >= 0 and self._all(list(value[1]), 0, start, lambda end: end) is not None
            return then(at) if holds == (name == "ASSERT") else None
        if name in {"MAX_REPEAT", "MIN_REPEAT"}:
            return self._repeated(name, value, at, then)
        raise NotImplementedError(name)

    def _repeated(self, name: str, value: Any, at: int, then: _Then) -> int | None:
        least, most, part = value
        greedy = name == "MAX_REPEAT"
        if len(part) == 1 and part[0][0].name in {"LITERAL", "NOT_LITERAL", "IN", "ANY"}:
            operation, what = part[0]
            reached = at
            while reached - at < (most if greedy else least) and self._reads(operation.name, what, reached):
                reached += 1
            while reached - at >= least:
                self.steps += 1
                end = then(reached)
                if end is not None:
                    return end
                if greedy:
                    reached -= 1
                elif reached - at < most and self._reads(operation.name, what, reached):
                    reached += 1
                else:
                    break
            return None

        def once_more(count: int, here: int) -> int | None:
            if not greedy:
                raise NotImplementedError
            if count < most:
                end = self._all(
                    list(part), 0, here, lambda after: once_more(count + 1, after) if after > here else None
                )
                if end is not None:
                    return end
            return then(here) if count >= least else None

        return once_more(0, at)

    def _reads(self, name: str, value: Any, at: int) -> bool:
        self.steps += 1
        if at >= len(self._text):
            return False
        here = self._text[at]
        if name == "ANY":
            return here != "\n" or bool(self._flags & re.DOTALL)
        cases = {here, here.lower(), here.upper()} if self._flags & re.IGNORECASE else {here}
        members = [(_OPERATIONS.LITERAL, value)] if name != "IN" else value
        negated = name == "NOT_LITERAL" or members[0][0].name == "NEGATE"
        return negated != any(
            _is_member(each, operation.name, member) for each in cases for operation, member in members
        )

    def _is_at(self, name: str, at: int) -> bool:
        before, after = self._text[max(0, at - 1) : at], self._text[at : at + 1]
        if name == "AT_BEGINNING":
            return not before or (before == "\n" and bool(self._flags & re.MULTILINE))
        if name == "AT_END":
            return not self._text[at + (after == "\n") :] or (after == "\n" and bool(self._flags & re.MULTILINE))
        if name == "AT_END_STRING":
            return not after
        return (name == "AT_BOUNDARY") == (_is_word(before) != _is_word(after))


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _is_member(character: str, name: str, member: Any) -> bool:
    if name == "LITERAL":
        return bool(ord(character) == member)
    if name == "RANGE":
        return bool(member[0] <= ord(character) <= member[1])
    if name == "CATEGORY":
        category = member.name.removeprefix("CATEGORY_")
        holds = {"WORD": _is_word, "SPACE": str.isspace, "DIGIT": str.isdecimal}[category.removeprefix("NOT_")]
        return bool(holds(character) != category.startswith("NOT_"))
    return False

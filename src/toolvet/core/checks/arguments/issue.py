"""`Issue`: one thing that is wrong with a call, in words from which a model can fix it."""

from functools import lru_cache
from typing import Final

import msgspec

from toolvet.core.checks.arguments.guide import KeywordText
from toolvet.core.checks.arguments.placeholders import NAME
from toolvet.core.checks.arguments.received import MISSING, holds_secret, show_name, show_value
from toolvet.core.json_value import pointer, pointer_steps
from toolvet.core.schema.document import JsonForm


class Issue(JsonForm, msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One thing that is wrong with a call.

    field: the place for a reader, such as `items.0.id`, or `root`.
    pointer: the same as a JSON Pointer.
    keyword: the keyword of the schema that the value violates.
    kind: the sort of mistake: `required`, `type`, `format`, `pattern`, `range`, `size`, `enum`, `unknown`, `excluded`,
        `union`, `syntax`, or `unchecked` for a tool without a schema.
    problem: what is wrong.
    received: what was sent, without secrets and not long; `(missing)` for a missing member.
    received_text: the same as the Markdown report shows it.
    expected: what is valid, in a few words.
    fix: what to do.
    did_you_mean: valid values or names that are close to what was sent.
    examples: a valid value, if one is known.
    """

    _hides = ("received_text",)
    _sparse = ("did_you_mean", "examples")

    field: str
    pointer: str
    keyword: str
    kind: str
    problem: str
    received: object
    received_text: str
    expected: str
    fix: str
    did_you_mean: tuple[object, ...] = ()
    examples: tuple[object, ...] = ()


class Sent(msgspec.Struct, frozen=True, gc=False):
    """The value in the call at the place of an issue; `NOTHING` for a missing one."""

    value: object


NOTHING: Final = Sent(MISSING)


class IssuePlace(msgspec.Struct, frozen=True, gc=False):
    """A place in a call as issues name it: `field` for a reader, the pointer, its last name, whether it is secret."""

    field: str
    pointer: str
    last: str
    secret: bool


def issue_at(
    place: str, keyword: str, words: KeywordText, sent: Sent, *, fix: str = "", guesses: tuple[object, ...] = ()
) -> Issue:
    """The issue at `place`, a JSON Pointer. A `fix` replaces that of `words`."""
    # Calls name the same few places again and again; a name that is no name of a field is not kept.
    at = _known_place(place) if len(place) <= _LONGEST_KEPT else _read_place(place)
    problem, fix = words.problem, fix or words.fix
    if words.names:
        problem, fix = problem.replace(NAME, at.last), fix.replace(NAME, at.last)
    if sent is NOTHING:
        received: object = MISSING
        received_text = MISSING
    else:
        received, received_text = show_value(sent.value, secret=at.secret)
    return Issue(
        field=at.field,
        pointer=at.pointer,
        keyword=keyword,
        kind=words.kind,
        problem=problem,
        received=received,
        received_text=received_text,
        expected=words.expected,
        fix=fix,
        did_you_mean=guesses,
        examples=words.examples,
    )


_LONGEST_KEPT: Final = 100


def _read_place(place: str) -> IssuePlace:
    path = pointer_steps(place)
    shown = tuple(map(show_name, path))
    return IssuePlace(
        field=".".join(shown) or "root",
        pointer=place if shown == path else pointer(shown),
        last=shown[-1] if shown else "root",
        secret=holds_secret(path),
    )


@lru_cache(maxsize=4096)
def _known_place(place: str) -> IssuePlace:
    return _read_place(place)

"""One thing that is wrong with a call, told so that a model can mend it."""

import msgspec

from toolvet.checks.arguments.guide import KeywordText
from toolvet.checks.arguments.received import MISSING, holds_secret, shown_name, shown_value
from toolvet.checks.arguments.terms import NAME
from toolvet.schema.json_value import pointer


class Issue(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is wrong with a call.

    `field` is the place for a reader (`items.0.id`, or `root`), `pointer` the same as a JSON Pointer, `keyword` the
    keyword of the schema that is broken, and `kind` what sort of mistake it is (`required`, `type`, `format`,
    `pattern`, `range`, `size`, `enum`, `unknown`, `excluded`, `union`, `syntax`). `received` is what was sent: never a
    secret, never long, `(missing)` for what is not there; `received_text` the same as the text shows it. `expected`
    says what is legal in a few words, `fix` what to do. `did_you_mean` holds the legal values or names closest to what
    was sent, if any are close; `examples` a legal value, if one is known.
    """

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

    def to_dict(self) -> dict[str, object]:
        """The JSON form."""
        told: dict[str, object] = {
            "field": self.field,
            "pointer": self.pointer,
            "keyword": self.keyword,
            "kind": self.kind,
            "problem": self.problem,
            "received": self.received,
            "expected": self.expected,
            "fix": self.fix,
        }
        if self.did_you_mean:
            told["did_you_mean"] = list(self.did_you_mean)
        if self.examples:
            told["examples"] = list(self.examples)
        return told


class Sent(msgspec.Struct, frozen=True, gc=False):
    """What stands in the call where something is wrong; `NOTHING` where it is missing."""

    value: object


NOTHING = Sent(MISSING)


def issue_at(
    place: str, keyword: str, words: KeywordText, sent: Sent, *, fix: str = "", guesses: tuple[object, ...] = ()
) -> Issue:
    """The issue at `place` (a JSON Pointer); `fix` instead of the one of the words, if it is given."""
    path = steps_of(place)
    shown = tuple(map(shown_name, path))
    last = shown[-1] if shown else "root"
    problem, fix = words.problem, fix or words.fix
    if words.names:
        problem, fix = problem.replace(NAME, last), fix.replace(NAME, last)
    if sent is NOTHING:
        received: object = MISSING
        received_text = MISSING
    else:
        received, received_text = shown_value(sent.value, secret=holds_secret(path))
    return Issue(
        field=".".join(shown) or "root",
        pointer=place if shown == path else pointer(shown),
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


def steps_of(place: str) -> tuple[str, ...]:
    """The steps of a JSON Pointer."""
    if not place:
        return ()
    steps = place[1:].split("/")
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in steps) if "~" in place else tuple(steps)

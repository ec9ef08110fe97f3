"""Rule: the tool refuses arguments that its schema allows."""

import re
from collections.abc import Iterator
from typing import Final

from toolvet.causes import State
from toolvet.findings import Card, Finding, Severity
from toolvet.rules.cause import cause_of
from toolvet.rules.ending import Ending, ending, is_bad, speaks_of_absence, verdict_of, words_of
from toolvet.rules.message import field_patterns
from toolvet.rules.quote import quote, show
from toolvet.rules.subject import ObservedCall
from toolvet.schema.json_value import members

CARD = Card(
    id="valid-refused",
    title="The tool refuses what its schema allows",
    severity=Severity.INFO,
    looks_for=(
        "Arguments that satisfy the schema, refused as invalid with words about one of them. Not found, not allowed "
        "and the like are no disagreement, and free-form texts (SQL, code, expressions) have rules that a schema "
        "cannot hold."
    ),
    why=(
        "A schema that is looser than the server makes models learn the rule from an error, one wasted call at a time."
    ),
    remedy=(
        "Put the rule into the schema where JSON Schema can say it: `minLength`, `minimum`, `enum`, `format`, "
        '`pattern`, `required` within `anyOf` for "one of these two". Otherwise put it into the parameter\'s '
        "description, with an example."
    ),
)

_FREE_FORM: Final = re.compile(
    r"(?i)(?:^|_)(?:sql|query|code|script|expression|expr|formula|regex|pattern|jql|cql|graphql|command|statement|program|xpath|selector|template)(?:_|$)"
)
_LONGEST: Final = 4_000  # Characters of an error that are searched.


def check_call(call: ObservedCall) -> Iterator[Finding]:
    """Report a refusal that names an argument of a valid call."""
    verdict = verdict_of(call)
    if (
        ending(call) is not Ending.REFUSAL
        or is_bad(call)
        or call.breach is not None
        or verdict is None
        or verdict.state is not State.INVALID_INPUT
    ):
        return
    words = words_of(call)[:_LONGEST]
    # The argument that is named first is the one that is meant; later ones are often only quoted with the input.
    places = {name: place for name in call.tool.properties if (place := _find_place(name, words)) is not None}
    named = min(places, key=places.__getitem__, default=None)
    if named is not None and not speaks_of_absence(words) and not _FREE_FORM.search(named):
        arguments = members(call.arguments)
        given = (
            f"'{quote(named, 60)}' = {show(arguments[named], 60)}"
            if named in arguments
            else f"a call without '{quote(named, 60)}'"
        )
        yield CARD.finding(
            message=f'The schema allows {given}, and the tool refuses it: "{quote(words, 120)}"',
            pointer=f"/{named.replace('~', '~0').replace('/', '~1')}",
            evidence=quote(words, 300),
            confidence=40,
            cause=cause_of(call),
        )


def _find_place(name: str, words: str) -> int | None:
    """Where the words first mention this argument; None where they do not."""
    return min((match.start() for pattern in field_patterns(name) if (match := pattern.search(words))), default=None)

"""Wrong arguments: what a tool does with them, and whether its schema rules them out."""

import re
from collections.abc import Iterator
from typing import Final

from toolvet.assess.rules.contrast import EXCLUSIVE
from toolvet.assess.rules.ending import (
    INVALID_ARGUMENTS,
    OUTAGES,
    Ending,
    cause_of,
    ending,
    is_bad,
    outage_of_call,
    speaks_of_absence,
    verdict_of,
    words_of,
)
from toolvet.assess.rules.fault import fault_of, intended_violation, is_only_unknown
from toolvet.assess.rules.message import field_patterns
from toolvet.assess.rules.quote import describe_long, list_names, quote, show, show_sent
from toolvet.assess.rules.rule import of_call, of_server
from toolvet.core.causes import State
from toolvet.core.checks import LeakKind
from toolvet.core.json_value import elements, members, pointer
from toolvet.core.tool_rules import ObservedCall, ObservedServer
from toolvet.findings import Card, Finding, Severity

INVALID_ACCEPTED = Card(
    id="invalid-accepted",
    title="Arguments that the schema forbids are accepted",
    severity=Severity.WARNING,
    looks_for=(
        "A call that breaks the tool's own inputSchema and is answered with a success; also one that breaks what its "
        'descriptions say ("exactly one of a, b", "either a or b, not both"). A lenient reading of the '
        'same value ("3" for 3) and an unchecked `format` are reported as info; an unknown argument is '
        "`unknown-argument-ignored`."
    ),
    why=(
        "The schema promises a check that is never made. A model's slip (a limit of 5000 where 50 is the maximum, a "
        "missing unit) goes through and gives a wrong result instead of an error that the model could correct."
    ),
    remedy=(
        "Validate arguments against the schema before the tool runs: FastMCP does for constraints in the "
        "signature (`Annotated[int, Field(ge=1, le=50)]`), the TypeScript SDK for a Zod `inputSchema`; with a "
        "schema written by hand, validate by hand. Or loosen the schema to what the tool really takes."
    ),
)


@of_call(INVALID_ACCEPTED)
def check_invalid_accepted(call: ObservedCall) -> Iterator[Finding]:
    """Name the keyword, the place and the value; the severity depends on how far the value is from a good one."""
    described = call.intended.detail if call.intended is not None and call.intended.keyword == EXCLUSIVE else ""
    if ending(call) is not Ending.SUCCESS or not (is_bad(call) or described) or is_only_unknown(call):
        return
    fault = fault_of(call)
    violation = intended_violation(call)
    said = violation.message if violation is not None else call.intended.detail if call.intended is not None else ""
    value = show_sent(call, sent := violation.instance if violation is not None else fault.value, 60)
    said = said.replace(sent, describe_long(sent)) if isinstance(sent, str) and sent else said
    accepted = f"'{quote(fault.field, 60)}' = {value}" if fault.field else f"the arguments {value}"
    if fault.keyword in {"required", "dependentRequired"}:
        accepted = f"a call without '{quote(fault.field, 60)}'"
    if described:
        accepted = quote(described, 120)
    # The value is nearly right: by default `format` is only a note, and "3" is often read as 3.
    is_lenient = violation is not None and (
        violation.keyword == "format"
        or (violation.keyword == "type" and _reads_as(violation.instance, violation.params.get("types")))
    )
    yield INVALID_ACCEPTED.finding(
        message=(
            f"The tool accepted {accepted}, although its {'description' if described else 'schema'} forbids it "
            f"({fault.keyword})."
        ),
        severity=Severity.INFO if is_lenient else None,
        pointer=fault.pointer,
        evidence=f"{quote(said, 160)}; arguments: {show_sent(call, call.arguments)}",
        confidence=95,
        cause=f"{fault.keyword} is not checked",
    )


def _reads_as(value: object, types: object) -> bool:
    wanted = {kind for kind in elements(types) if isinstance(kind, str)}
    match value:
        case str():
            text = value.strip().lower()
            if "boolean" in wanted and text in {"true", "false"}:
                return True
            try:
                number = float(text) if len(text) < 40 else float("nan")
            except ValueError:
                return False
            return "number" in wanted or ("integer" in wanted and number == number // 1)
        case bool():
            return bool(wanted & {"string", "integer", "number"})
        case int() | float():
            return (
                "string" in wanted
                or ("integer" in wanted and value == value // 1)
                or ("boolean" in wanted and value in (0, 1))
            )
        case _:
            return False


UNKNOWN_ARGUMENT_IGNORED = Card(
    id="unknown-argument-ignored",
    title="Unknown arguments are silently ignored",
    severity=Severity.INFO,
    looks_for=(
        "A call with an argument that the schema does not declare, answered with a success. It is how most SDKs work, "
        "also where the schema forbids it (`additionalProperties: false`), so it is one note for the server, and the "
        "scenario passes."
    ),
    why=(
        "A model that misspells an optional argument (`max_result` for `max_results`) gets a success that ignored "
        "its wish, and no hint."
    ),
    remedy=(
        "Forbid unknown arguments in the schema and refuse them: `additionalProperties: false`; in pydantic "
        '`ConfigDict(extra="forbid")`, in Zod `z.strictObject`.'
    ),
    is_of_sdk=True,
)
# Any of these may declare arguments that are not in `properties`.
_MAY_DECLARE_MORE: Final = frozenset(
    {
        "$ref", "allOf", "anyOf", "oneOf", "if", "patternProperties", "additionalProperties", "unevaluatedProperties",
        "dependentSchemas",
    }
)  # fmt: skip


@of_server(UNKNOWN_ARGUMENT_IGNORED)
def check_unknown_argument_ignored(server: ObservedServer) -> Iterator[Finding]:
    """One finding with the tools that ignored an argument that their schema does not mention."""
    ignored: dict[str, ObservedCall] = {}
    for call in server.calls:
        wrong = is_bad(call) and not is_only_unknown(call)
        if ending(call) is Ending.SUCCESS and not wrong and next(_undeclared(call), None) is not None:
            ignored.setdefault(call.tool.name, call)
    if not ignored:
        return
    first = next(iter(ignored.values()))
    many = f"{len(ignored)} tools" if len(ignored) > 1 else f"The tool {list_names(list(ignored))}"
    which = f": {list_names(list(ignored))}" if len(ignored) > 1 else ""
    forbidden = ", which the schema forbids" if is_bad(first) else ""
    yield UNKNOWN_ARGUMENT_IGNORED.finding(
        message=f"{many} ignored the undeclared argument {list_names(list(_undeclared(first)))}{forbidden}{which}.",
        evidence=f"arguments: {show_sent(first, first.arguments)}",
    )


def _undeclared(call: ObservedCall) -> Iterator[str]:
    if is_only_unknown(call):
        yield fault_of(call).field or "(unnamed)"
        return
    if call.intended is not None:
        return
    # A schema without properties describes an object that is free on purpose.
    if call.tool.schema is not None and call.tool.properties and _MAY_DECLARE_MORE.isdisjoint(call.tool.schema):
        yield from (name for name in members(call.arguments) if name not in call.tool.properties)


VALID_REFUSED = Card(
    id="valid-refused",
    title="The tool refuses what its schema allows",
    severity=Severity.INFO,
    looks_for=(
        "Arguments that satisfy the schema, refused as invalid with a message about one of them. Not found, not "
        "allowed and the like do not count, and free-form texts (SQL, code, expressions) have rules that a schema "
        "cannot express."
    ),
    why="A schema that is looser than the server makes models learn the rule from an error, one wasted call at a time.",
    remedy=(
        "Put the rule into the schema where JSON Schema can say it: `minLength`, `minimum`, `enum`, `format`, "
        '`pattern`, `required` within `anyOf` for "one of these two". Otherwise put it into the parameter\'s '
        "description, with an example."
    ),
)
_FREE_FORM: Final = re.compile(
    r"(?i)(?:^|_)(?:sql|query|code|script|expression|expr|formula|regex|pattern|jql|cql|graphql|command|statement|program|xpath|selector|template)(?:_|$)"
)
_LONGEST_ERROR: Final = 4_000  # Characters of an error that are searched.


@of_call(VALID_REFUSED)
def check_valid_refused(call: ObservedCall) -> Iterator[Finding]:
    """Report a refusal that names an argument of a valid call."""
    verdict = verdict_of(call)
    if (
        ending(call) is not Ending.REFUSAL
        or is_bad(call)
        or call.intended is not None
        or verdict is None
        or verdict.state is not State.INVALID_INPUT
    ):
        return
    words = words_of(call)[:_LONGEST_ERROR]
    # The argument that is named first is the one that is meant; later ones are often only quoted with the input.
    places = {
        name: min(starts)
        for name in call.tool.properties
        if (starts := [match.start() for pattern in field_patterns(name) if (match := pattern.search(words))])
    }
    named = min(places, key=places.__getitem__, default=None)
    if named is not None and not speaks_of_absence(words) and not _FREE_FORM.search(named):
        arguments = members(call.arguments)
        given = (
            f"'{quote(named, 60)}' = {show_sent(call, arguments[named], 60)}"
            if named in arguments
            else f"a call without '{quote(named, 60)}'"
        )
        yield VALID_REFUSED.finding(
            message=f'The schema allows {given}, and the tool refuses it: "{quote(words, 120)}"',
            pointer=pointer((named,)),
            evidence=quote(words, 300),
            confidence=40,
            cause=cause_of(call),
        )


ARGUMENTS_PROTOCOL_ERROR = Card(
    id="arguments-protocol-error",
    title="Wrong arguments are answered with a protocol error",
    severity=Severity.WARNING,
    looks_for=(
        "A call of a tool that exists, refused for its arguments with a JSON-RPC error instead of a result with "
        "`isError: true`."
    ),
    why=(
        "Protocol errors are for the client program: many clients hide them from the model, or end the conversation. A "
        "result with isError reaches the model, which can then correct itself (SEP-1303, protocol 2025-11-25 and "
        "later)."
    ),
    remedy=(
        'Answer with `{"isError": true, "content": [{"type": "text", "text": "..."}]}` and say what is wrong. In '
        "FastMCP raise `ToolError`, not `McpError`; in the TypeScript SDK return the result instead of throwing "
        "`McpError`. Newer versions of both SDKs do this for schema violations by themselves: update."
    ),
)


@of_call(ARGUMENTS_PROTOCOL_ERROR)
def check_arguments_protocol_error(call: ObservedCall) -> Iterator[Finding]:
    """Report such a refusal of bad arguments, and with less confidence of arguments that the schema allows."""
    if call.repeats and call.intended is not None:
        return  # Without the fault, too: it is not about the arguments.
    if ending(call) is Ending.PROTOCOL_REFUSAL and call.error is not None and outage_of_call(call) is None:
        which = "Arguments that break the schema were" if is_bad(call) else "The arguments were"
        words = quote(call.error.message, 120)
        yield ARGUMENTS_PROTOCOL_ERROR.finding(
            message=f'{which} refused with error {call.error.code} instead of a result with isError: "{words}"',
            evidence=f"error {call.error.code}: {quote(call.error.message, 300)}",
            confidence=100 if is_bad(call) else 80,
            cause=f"error {call.error.code}: {cause_of(call)}",
        )


BAD_ARGUMENTS_CRASH = Card(
    id="bad-arguments-crash",
    title="Wrong arguments crash the tool",
    severity=Severity.WARNING,
    looks_for=(
        "Arguments that break the schema (or one that it does not know), answered with the words of a crash or an "
        "internal error instead of a refusal. A tool that fails in the same words on valid arguments does not count."
    ),
    why=(
        "The error speaks of the server's code (`'NoneType' object has no attribute ...`), not of the argument. A "
        "model cannot correct its call from that, and what a wrong type can crash, a hostile caller will find."
    ),
    remedy=(
        "Check the arguments before using them. FastMCP validates against the signature when parameters are "
        "annotated, the TypeScript SDK against `inputSchema` when it is a Zod object; low-level servers validate by "
        "hand (`jsonschema.validate`)."
    ),
)
_CRASH_STATES: Final = frozenset({State.CRASH, State.INTERNAL})
_CRASH_ENDINGS: Final = frozenset({Ending.FAILURE, Ending.PROTOCOL_FAILURE})


@of_call(BAD_ARGUMENTS_CRASH)
def check_bad_arguments_crash(call: ObservedCall) -> Iterator[Finding]:
    """Report a crash where a refusal belongs. Unclear words prove no crash, and an outage is not the caller's fault."""
    verdict = verdict_of(call)
    if ending(call) not in _CRASH_ENDINGS or not (is_bad(call) or call.intended is not None) or verdict is None:
        return
    if call.repeats or call.outage_nearby:
        return
    leaked = any(leak.kind in {LeakKind.STACK_TRACE, LeakKind.CRASH_TEXT} for leak in verdict.leaks)
    if verdict.state not in _CRASH_STATES and (not leaked or verdict.state in OUTAGES):
        return
    fault = fault_of(call)
    what = f"A wrong '{quote(fault.field, 60)}'" if fault.field else "Wrong arguments"
    form = f"protocol error {call.error.code}: " if call.error is not None else ""
    words = quote(words_of(call), 120)
    yield BAD_ARGUMENTS_CRASH.finding(
        message=f'{what} ({fault.keyword}) ended in a crash instead of a refusal: {form}"{words}"',
        evidence=f"{quote(words_of(call), 240)}; arguments: {show_sent(call, call.arguments, 120)}",
        confidence=90 if leaked or verdict.state is State.CRASH else 75,
        cause=cause_of(call),
    )


ARGUMENTS_NOT_OBJECT = Card(
    id="arguments-not-object",
    title="Arguments that are not an object expose server internals",
    severity=Severity.WARNING,
    looks_for=(
        "One tool called with `arguments: null` and with a list, where an object belongs: a crash, an internal error "
        "or no answer at all. `null` may be taken for `{}`. An SDK's own message (a dump of Zod or pydantic) is "
        "reported as info: the author of the server cannot change it."
    ),
    why=(
        "Models and careless clients send `null` where a tool takes nothing. An internal error says that the server is "
        "at fault, so the client sends the same again, and the dump does not say what was wrong."
    ),
    remedy=(
        "Take `null` for `{}`, and answer anything else that is not an object with error -32602 and a sentence. "
        "With an SDK update it; in a handler of your own look at the type of `params.arguments` first."
    ),
    is_of_sdk=True,
)
_INTERNAL_ENDINGS: Final = frozenset({Ending.FAILURE, Ending.PROTOCOL_FAILURE, Ending.WORDLESS})
_WITHOUT_ANSWER: Final = {
    Ending.TIMEOUT: "is not answered",
    Ending.DIED: "ends the server",
    Ending.MALFORMED: "is not answered with a legal message",
}
# The validation of the message itself, before any code of the author: Zod's issues, pydantic's of the request.
_OF_THE_SDK: Final = re.compile(
    r'"path"\s*:\s*\[[^\]]{0,80}"arguments"|validation errors? for \w*(?:Request|Params|ClientRequest)\w*'
    r"|\bparams\.arguments\b"
)


@of_server(ARGUMENTS_NOT_OBJECT)
def check_arguments_not_object(server: ObservedServer) -> Iterator[Finding]:
    """One finding for all such calls: the gravest, with the others beside it."""
    # A dump is a bad answer where its code blames the server and not the call.
    bad = [
        call
        for call in server.odd_arguments
        if ending(call) in _INTERNAL_ENDINGS
        or ending(call) in _WITHOUT_ANSWER
        or (call.error is not None and call.error.code not in INVALID_ARGUMENTS and _is_of_the_sdk(call))
    ]
    if not bad:
        return
    worst = max(bad, key=lambda call: _severity_of_odd(call).rank)
    ended, severity, words = ending(worst), _severity_of_odd(worst), quote(words_of(worst), 120)
    form = f"error {worst.error.code}" if worst.error is not None else "an error that is not a refusal"
    if ended in _WITHOUT_ANSWER:
        answer = f"{_WITHOUT_ANSWER[ended]}."
    elif severity is Severity.INFO:
        answer = f'is answered with {form} and the message of the SDK: "{words}"'
    else:
        answer = f'is answered with {form}: "{words}"' if words else f"is answered with {form}, without words."
    sent = " and ".join(f"`arguments: {show(call.arguments, 40)}`" for call in bad)
    yield ARGUMENTS_NOT_OBJECT.finding(
        message=f"{sent} in a call of '{quote(worst.tool.name, 60)}' {answer}",
        severity=severity,
        evidence=quote(words_of(worst) or worst.detail, 300),
        confidence=90,
    )


def _is_of_the_sdk(call: ObservedCall) -> bool:
    return _OF_THE_SDK.search(words_of(call)[:_LONGEST_ERROR]) is not None


def _severity_of_odd(call: ObservedCall) -> Severity:
    if ending(call) is Ending.DIED:
        return Severity.ERROR
    return Severity.INFO if _is_of_the_sdk(call) else Severity.WARNING

"""The capabilities that a server announces, and whether completion and validation do what they promise."""

from collections.abc import Iterator, Mapping
from typing import Final

from toolvet.assess.rules.ending import Ending, ending, is_bad, speaks_of_absence, verdict_of, words_of
from toolvet.assess.rules.item import METHOD_NOT_FOUND, ObservedItems, ObservedRequest, Purpose
from toolvet.assess.rules.quote import list_names, quote, show, show_answer, show_sent
from toolvet.assess.rules.rule import of_call, of_items, of_request, of_server
from toolvet.core.causes import State
from toolvet.core.checks import ValidationReply
from toolvet.core.json_value import count, elements, is_array, is_object, members
from toolvet.core.tool_rules import ObservedCall, ObservedServer, Preview
from toolvet.findings import Card, Finding, Severity

CAPABILITY_UNANSWERED = Card(
    id="capability-unanswered",
    title="A capability is announced that the server does not have",
    severity=Severity.ERROR,
    looks_for=(
        "`resources`, `prompts` or `completions` among the capabilities, and the error -32601 (method not found) to "
        "the list or the completion. A server with resources only need not know `resources/templates/list`; one with "
        "templates only that does not know `resources/list` is a warning."
    ),
    why=(
        "Clients ask for what is announced when they connect. Some show the error to their user, and some take the "
        "whole server for broken."
    ),
    remedy=(
        "Announce only what has a handler. The SDKs do that by themselves; in low-level servers leave the capability "
        "out, or answer with an empty list."
    ),
)


@of_items(CAPABILITY_UNANSWERED)
def check_capability_unanswered(seen: ObservedItems) -> Iterator[Finding]:
    """One finding for each capability."""
    unknown = {listing.kind: listing.method for listing in seen.listings if listing.is_unknown}
    lists = {listing.kind for listing in seen.listings}
    if "prompt" in unknown:
        yield _report_unanswered("prompts", ["prompts/list"])
    if "resource" in unknown:
        alone = "resource_template" in lists and "resource_template" not in unknown
        methods = [unknown["resource"], *([unknown["resource_template"]] if "resource_template" in unknown else [])]
        yield _report_unanswered("resources", methods, Severity.WARNING if alone else None)
    completions = [request for request in seen.requests if request.method == "completion/complete"]
    if completions and all(
        request.error is not None and request.error.code == METHOD_NOT_FOUND for request in completions
    ):
        yield _report_unanswered("completions", ["completion/complete"])


def _report_unanswered(capability: str, methods: list[str], severity: Severity | None = None) -> Finding:
    return CAPABILITY_UNANSWERED.finding(
        message=f"The capability `{capability}` is announced, and {list_names(methods)} brings the error -32601.",
        severity=severity,
        pointer=f"/capabilities/{capability}",
    )


COMPLETION_MALFORMED = Card(
    id="completion-malformed",
    title="Invalid completion result",
    severity=Severity.ERROR,
    looks_for=(
        "A result of completion/complete without `completion.values`, an array of at most 100 strings; `total` or "
        "`hasMore` of another type. A `total` below the number of values, or a `hasMore` that contradicts it, is a "
        "warning; an error for an argument that the server declares is a warning, too."
    ),
    why="Clients refuse such a result, and users get no suggestions; `total` and `hasMore` say how much was omitted.",
    remedy="Answer with `completion: {values, total, hasMore}`; with an empty array if you have nothing to suggest.",
)
_MOST_VALUES: Final = 100


@of_request(COMPLETION_MALFORMED)
def check_completion_malformed(request: ObservedRequest) -> Iterator[Finding]:
    """Judge completions of what is listed."""
    if request.purpose is not Purpose.COMPLETION:
        return
    name = show(members(members(request.params).get("argument")).get("name"), 60)
    if request.error is not None and request.error.code != METHOD_NOT_FOUND:
        yield COMPLETION_MALFORMED.finding(
            message=f"Values for {name} bring error {request.error.code}: {show(request.error.message, 120)}",
            severity=Severity.WARNING,
            evidence=show(request.error.message, 300),
            pointer=f"/{name}",
        )
    if not request.succeeded:
        return
    completion = members(request.result).get("completion")
    problem, severity = (
        _completion_problem(members(completion)) if is_object(completion) else ("has no 'completion'", None)
    )
    if problem:
        yield COMPLETION_MALFORMED.finding(
            message=f"The completion of {name} {problem}.",
            severity=severity,
            evidence=show_answer(request.result),
            pointer=f"/{name}",
        )


def _completion_problem(completion: Mapping[str, object]) -> tuple[str, Severity | None]:
    values, total, more = completion.get("values"), completion.get("total"), completion.get("hasMore")
    if not is_array(values):
        return "has no array 'values'", None
    others = [value for value in elements(values) if not isinstance(value, str)]
    if others:
        return f"has a value that is not a string: {show(others[0], 60)}", None
    if len(values) > _MOST_VALUES:
        return f"has {len(values)} values, and {_MOST_VALUES} are allowed", None
    if more is not None and not isinstance(more, bool):
        return f"has a 'hasMore' that is neither true nor false: {show(more, 60)}", None
    known = count(total)
    if total is not None and known is None:
        return f"has a 'total' that is not a number of values: {show(total, 60)}", None
    if known is not None and known < len(values):
        return f"has {len(values)} values and a total of {known}", Severity.WARNING
    if known is not None and more is not None and more != (known > len(values)):
        return f"has {len(values)} values of {known} and says 'hasMore: {str(more).lower()}'", Severity.WARNING
    return "", None


COMPLETION_ABSENT_ANSWER = Card(
    id="completion-absent-answer",
    title="Completions for an unknown prompt or resource",
    severity=Severity.INFO,
    looks_for=(
        "The answer to completion/complete for a prompt or a template that no list has. The protocol wants the error "
        "-32602; the Python SDKs leave it to the handler. One finding for the server."
    ),
    why="A client whose list is out of date sees suggestions, or none, where an error would make it list again.",
    remedy="Raise an error with the code -32602 for references that the handler does not know.",
    is_of_sdk=True,
)


@of_items(COMPLETION_ABSENT_ANSWER)
def check_completion_absent_answer(seen: ObservedItems) -> Iterator[Finding]:
    """One finding, with the kinds of references that were answered."""
    answered = [request for request in seen.asked(Purpose.ABSENT_REFERENCE) if request.succeeded]
    if answered:
        kinds = [str(members(members(request.params).get("ref")).get("type")) for request in answered]
        yield COMPLETION_ABSENT_ANSWER.finding(
            message=f"References to what does not exist are answered with a success: {list_names(kinds)}.",
            evidence=show_answer(answered[0].result),
        )


VALIDATION_BROKEN = Card(
    id="validation-broken",
    title="The announced validation does not work",
    severity=Severity.ERROR,
    looks_for=(
        "`toolValidation` among the capabilities, and an announced method that does not exist, fails, does not answer "
        "or answers without a verdict. Also a malformed announcement: official clients cannot even "
        "connect to a server that announces a bare `true`. An option that cannot be read is a warning."
    ),
    why=(
        "A client that asks first falls back to the schema, and pays a round trip for it each time, or refuses to "
        "schedule anything. One that does not look twice takes the failure for a verdict."
    ),
    remedy=(
        'Announce `"experimental": {"toolValidation": {"supported": true}}` and offer a tool of the announced name '
        "(`validate` without one) that takes `tool` and `arguments` and answers `valid`, `errors`, `warnings` and "
        "`suggestions`. Or announce nothing."
    ),
)
_VALIDATION: Final = "/capabilities/experimental/toolValidation"


@of_server(VALIDATION_BROKEN)
def check_validation_broken(server: ObservedServer) -> Iterator[Finding]:
    """One finding about the announcement, one about the answers of the validator."""
    seen = server.validation
    if seen is None:
        return
    if seen.announcement_problems:
        yield VALIDATION_BROKEN.finding(
            message=f"The announcement is wrong: {quote(' '.join(seen.announcement_problems), 300)}",
            severity=Severity.WARNING if seen.announced else None,
            pointer=_VALIDATION,
            evidence=quote(" ".join(seen.announcement_problems), 400),
        )
    if seen.failures:
        failed = len(seen.failures)
        often = "" if failed == seen.asked == 1 else f" ({failed} of {seen.asked} times)"
        yield VALIDATION_BROKEN.finding(
            message=f"Asked about a call, '{quote(seen.method, 60)}' gave no verdict{often}: "
            f"{quote(seen.failures[0], 200)}",
            evidence=quote("; ".join(dict.fromkeys(seen.failures)), 400),
        )


VALIDATION_DISAGREES = Card(
    id="validation-disagrees",
    title="The validator and the tool disagree",
    severity=Severity.WARNING,
    looks_for=(
        "A call that the announced validator calls valid and the tool then refuses for its arguments, or one that it "
        "calls invalid and the tool answers with a success. Each call is validated just before it is made. Not found, "
        "not allowed and the like do not count. Nor does a tool that accepts what its own schema forbids, or one "
        "with rules beyond the schema on a server that announces the level `syntax` only."
    ),
    why=(
        "Clients ask so that they can schedule a call, or keep a model from making it. A wrong yes fails later, "
        "unattended; a wrong no blocks a call that would have worked."
    ),
    remedy=(
        "Let validator and tool read one schema and run the same checks: call the validator at the start of the tool, "
        "too. A check that cannot be made beforehand is a warning of the validator, not an error."
    ),
)
_REFUSALS: Final = frozenset({Ending.REFUSAL, Ending.PROTOCOL_REFUSAL, Ending.UNFLAGGED_ERROR})


@of_call(VALIDATION_DISAGREES)
def check_validation_disagrees(call: ObservedCall) -> Iterator[Finding]:
    """Compare the two; the confidence depends on whether the schema allows the arguments."""
    if call.preview is None:
        return
    answer = call.preview.reply
    if answer.valid and _refused_for_its_arguments(call, call.preview):
        yield VALIDATION_DISAGREES.finding(
            message=f'The validator calls the arguments valid, and the tool refuses them: "{_quote_answer(call, 120)}"',
            pointer="/valid",
            evidence=f"{_quote_answer(call, 240)}; arguments: {show_sent(call, call.arguments)}",
            confidence=95 if is_bad(call) else 70,
        )
    if not answer.valid and call.accepted and not is_bad(call) and call.intended is None:
        yield VALIDATION_DISAGREES.finding(
            message=f'The validator calls the arguments invalid, and the tool takes them: "{_quote_reason(answer)}"',
            pointer="/invalid",
            evidence=f"{_quote_reason(answer)}; arguments: {show_sent(call, call.arguments)}",
            confidence=85,
        )


def _refused_for_its_arguments(call: ObservedCall, preview: Preview) -> bool:
    """Whether the tool refused the arguments; for those that the schema allows, its words must leave no doubt."""
    if ending(call) not in _REFUSALS or not call.rejected:
        return False
    if is_bad(call):
        return True
    verdict = verdict_of(call)
    return (
        preview.levels != ("syntax",)
        and call.intended is None
        and verdict is not None
        and verdict.state is State.INVALID_INPUT
        and not speaks_of_absence(words_of(call))
    )


def _quote_answer(call: ObservedCall, limit: int) -> str:
    return quote(words_of(call), limit) or "no reason given"


def _quote_reason(answer: ValidationReply) -> str:
    return quote("; ".join(answer.errors), 160) or "no reason given"

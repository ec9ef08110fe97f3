"""The words of errors: whether they help, and what they give away."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from toolvet.assess.rules.ending import (
    ERRORS_IN_WORDS,
    REFUSALS,
    SAME,
    Ending,
    cause_of,
    ending,
    framework_of,
    verdict_of,
    words_of,
)
from toolvet.assess.rules.item import ObservedRequest, as_call
from toolvet.assess.rules.message import PartName, answered_errors, score_message
from toolvet.assess.rules.quote import quote
from toolvet.assess.rules.rule import of_call, of_calls, of_request
from toolvet.core.checks import Leak, LeakKind
from toolvet.core.json_value import members
from toolvet.core.tool_rules import ObservedCall, ToolDefinition
from toolvet.findings import Card, Finding, Severity

UNHELPFUL_ERROR = Card(
    id="unhelpful-error",
    title="Error messages do not help to correct the call",
    severity=Severity.WARNING,
    looks_for=(
        "Refusals of wrong arguments that score below 50 of 100 on average: does the text name the argument, say "
        "what was received and what is expected, list the allowed values or the limit, and say what to do? Words "
        "that a framework wrote (pydantic, Zod, an SDK) do not count."
    ),
    why=(
        'A model has only the error message to correct its call. "Invalid input" costs it several tries, and '
        "then it gives up."
    ),
    remedy=(
        "Write errors like this: \"'limit' must be an integer between 1 and 50; received 500. Use a value from 1 to "
        '50." In FastMCP raise `ToolError` with such a sentence instead of a bare `ValueError("invalid")`; in '
        "TypeScript pass messages to the Zod checks."
    ),
)
_HELPFUL: Final = 50
_SCORED: Final = frozenset({Ending.REFUSAL, Ending.FAILURE, Ending.WORDLESS, Ending.PROTOCOL_REFUSAL})
_WANTED: Final[Mapping[PartName, str]] = {
    "field": "which argument is wrong",
    "received": "what was received",
    "expected": "what is expected",
    "allowed": "the allowed values or the limit",
    "fix": "what to do",
}


@of_calls(UNHELPFUL_ERROR)
def check_unhelpful_error(tool: ToolDefinition, calls: Sequence[ObservedCall]) -> Iterator[Finding]:
    """One finding per tool, quoting the worst refusal. Crashes do not count: `bad-arguments-crash` reports them."""
    del tool
    refusals = [call for call in answered_errors(calls) if ending(call) in _SCORED]
    scored = [(score, call) for call in refusals if not (score := score_message(words_of(call), call)).crash]
    if not scored:
        return
    mean = sum(score.score for score, _ in scored) / len(scored)
    if round(mean) >= _HELPFUL:
        return
    worst, call = min(scored, key=lambda pair: pair[0].score)
    words = quote(words_of(call), 160)
    example = f'the worst is "{words}"' if words else "the worst has no words at all"
    many = (
        f"{len(scored)} refusals score {mean:.0f} of 100 on average"
        if len(scored) > 1
        else f"The refusal scores {mean:.0f} of 100"
    )
    missing = ", ".join(_WANTED[name] for name in worst.missing) or "nothing"
    yield UNHELPFUL_ERROR.finding(
        message=f"{many}; {example}. Missing: {missing}.",
        evidence=words or "(no text)",
        confidence=80,
        cause=cause_of(call) or "no text",
    )


CRASH_LEAKED = Card(
    id="crash-leaked",
    title="An error shows a stack trace or crash text",
    severity=Severity.WARNING,
    looks_for="A stack trace in an error, or the words of an exception in what is meant to be a refusal.",
    why=(
        "A model reads it as the answer: it costs tokens, hides what was wrong with the call, and shows an attacker "
        "how the server is built."
    ),
    remedy=(
        "Log the trace on the server and answer with a sentence. In FastMCP `FastMCP(mask_error_details=True)` "
        "hides everything but `ToolError`; in Express-like servers don't send `error.stack`."
    ),
)


@of_call(CRASH_LEAKED)
def check_crash_leaked(call: ObservedCall) -> Iterator[Finding]:
    """Report a trace in any error, and crash words in a refusal."""
    ended, verdict = ending(call), verdict_of(call)
    if ended not in ERRORS_IN_WORDS or verdict is None:
        return
    traces = [leak for leak in verdict.leaks if leak.kind is LeakKind.STACK_TRACE]
    words = [leak for leak in verdict.leaks if leak.kind is LeakKind.CRASH_TEXT]
    if traces:
        yield CRASH_LEAKED.finding(
            message=f"The error shows a stack trace: {quote(max((leak.text for leak in traces), key=len), 120)}",
            evidence=quote("\n".join(leak.text for leak in traces), 400),
            cause=cause_of(call),
        )
    elif words and ended in REFUSALS and framework_of(call) is None:
        # In other errors the crash itself is the finding, and quotes the same words.
        yield CRASH_LEAKED.finding(
            message=f"The refusal shows the words of a crash: {quote(words[0].text, 120)}",
            evidence=quote(words[0].text),
            confidence=70,
            cause=cause_of(call),
        )


@of_request(CRASH_LEAKED)
def check_crash_leaked_request(request: ObservedRequest) -> Iterator[Finding]:
    """Judge the errors of resources and prompts as those of tools."""
    yield from check_crash_leaked.judge(as_call(request))


PATH_LEAKED = Card(
    id="path-leaked",
    title="An error names a path of the server's machine",
    severity=Severity.WARNING,
    looks_for=(
        "An absolute path in an error that the caller did not send: of the server's code, its installation or "
        "a user's home directory; any other is reported as info. Not counted: a path that the error names as the "
        "allowed one or as an example, and one below the working folder that the caller chose."
    ),
    why=(
        "A model cannot use the path, and user names, directory layouts and installed packages are of use to an "
        "attacker."
    ),
    remedy=(
        "Name what the caller knows (the argument it sent, a path relative to the shared root) and log the rest on "
        "the server."
    ),
)
# Where code and people live, by the conventions of the systems that servers run on.
_INSIDE: Final = re.compile(
    r"(?i)site-packages|dist-packages|node_modules|[/\\](?:home|users|root|app|usr|opt|lib|venv|\.venv)[/\\]|\.(?:py|js|mjs|cjs|ts|tsx|go|rs|java|kt|rb|php|cs)\b"
)
# "… is outside the allowed repository '/srv/repo'": the author means the model to know it.
_MEANT: Final = re.compile(
    r"(?i)\b(?:allowed|permitted|configured|within|inside|outside|workspace|sandbox|base|root|working)\b[^\n]{0,60}\Z"
)
# "must be absolute, e.g. /home/me/q1.xlsx": made up for the reader.
_EXAMPLE: Final = re.compile(
    r"(?i)(?:\be\.\s?g\.|\bfor (?:example|instance)|\bsuch as|\bexamples?\b|\blike\b|\bi\.e\.|\bz\.\s?B\.)"
    r"(?:(?![.!?]\s)[^\n;]){0,60}\Z"
)


@of_call(PATH_LEAKED)
def check_path_leaked(call: ObservedCall) -> Iterator[Finding]:
    """Report the worst path of an error; `crash-leaked` reports stack traces, and the paths in them."""
    verdict = verdict_of(call)
    if (
        ending(call) not in ERRORS_IN_WORDS
        or verdict is None
        or any(leak.kind is LeakKind.STACK_TRACE for leak in verdict.leaks)
    ):
        return
    text = words_of(call)
    paths = [leak for leak in verdict.leaks if leak.kind is LeakKind.ABSOLUTE_PATH and not _is_meant(text, leak, call)]
    inside = [leak for leak in paths if _INSIDE.search(leak.text)]
    for leak in (inside or paths)[:1]:
        yield PATH_LEAKED.finding(
            message=f"The error names a path of the server's machine: {quote(leak.text, 120)}",
            severity=None if inside else Severity.INFO,
            evidence=quote(text, 300),
            confidence=90 if inside else 60,
            cause=f"{SAME}path {leak.text}",
        )


@of_request(PATH_LEAKED)
def check_path_leaked_request(request: ObservedRequest) -> Iterator[Finding]:
    """Judge the errors of resources and prompts as those of tools."""
    yield from check_path_leaked.judge(as_call(request))


def _is_meant(text: str, leak: Leak, call: ObservedCall) -> bool:
    if any(path and (leak.text + "/").startswith(path.rstrip("/") + "/") for path in call.known_paths):
        return True
    # A framework that shows the arguments cuts long ones: "input_value={'path': '/data/rep...".
    shown, cut, _ = leak.text.partition("...")
    if cut and any(isinstance(value, str) and value.startswith(shown) for value in members(call.arguments).values()):
        return True
    before, found, _ = text.partition(leak.text)
    # The caller's own values are often between that word and the path, and may be long.
    for sent in members(call.arguments).values():
        if isinstance(sent, str) and sent:
            before = before.replace(sent, "")
    return bool(found) and any(pattern.search(before[-100:]) for pattern in (_MEANT, _EXAMPLE))

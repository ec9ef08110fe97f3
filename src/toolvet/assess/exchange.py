"""A planned call → the reply from the wire → the call that the rules judge → the scenario that the report shows.

A scenario is made without secrets (`scenario_of`): rules and harvest see the call as it was, the report does not. Each
value is redacted once, as a whole, before it is cut or quoted.

Of an answer of more than 1 MiB all of them see an excerpt (`LargeExcerpt`):

    48 MB of text    {"content": [{"type": "text", "text": "not found … (48,000,000 characters in all; BLAKE2 9c4e…)"}]}

Judging takes time in proportion to what is judged, and a run has a deadline. The facts that only the whole answer shows
are taken from it once, before: its size, its verdict, and whether structured content satisfies the outputSchema. An
excerpt has the types of the whole, and the first of its entries.
"""

import gc
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import islice
from typing import Final, TypeVar

import msgspec

from toolvet.assess.report.document import Scenario, Verdict
from toolvet.assess.reproduce import reproduce_call
from toolvet.assess.rules import (
    AnswerExcerpt,
    IntendedViolation,
    ObservedCall,
    Outcome,
    Preview,
    ProtocolError,
    ToolDefinition,
)
from toolvet.assess.rules.ending import (
    REFUSALS,
    Ending,
    asks_for_nothing,
    ending,
    error_as_result,
    fails_by_itself,
    framework_of,
    is_empty_list,
    outage_of_call,
    verdict_of,
    words_of,
)
from toolvet.assess.rules.fault import is_only_unknown
from toolvet.core.checks import Classification, ResultCheck, ResultVerdict
from toolvet.core.json_value import count_values, is_array, is_object, members, without
from toolvet.core.redact import SecretMask, redact, redact_text
from toolvet.core.schema import compiled
from toolvet.core.tool_rules import Category, FileChange
from toolvet.core.tools import has_outputs, read_outputs, view_of
from toolvet.mcp.transport import Answer, ConnectionLost, Malformed, Reply, RpcError, Target, TimedOut
from toolvet.mcp.wire import has_half_character

T = TypeVar("T")
_DEFAULT_CHECK: Final = ResultCheck()
_LONGEST_STRING: Final = 4_000  # Characters of one string in a report; the whole answer was judged.
_LONGEST_TEXT: Final = 20_000  # Characters of a name or a description.
_LONGEST_MARK: Final = 80
_MOST_ITEMS: Final = 200
_MOST_MEMBERS: Final = 2_000
_DEEPEST: Final = 40  # Levels of a payload in a report.
_MOST_WORDS: Final = 50  # Issues, or pieces of evidence, of one verdict in a report.
_LONGEST_READ: Final = 20_000  # Characters of one of them that are looked at for secrets.
_WITHOUT_ANSWER: Final = {
    Ending.TIMEOUT: "no answer in time",
    Ending.DIED: "the server died",
    Ending.MALFORMED: "the answer is not a tool result",
}
# Frameworks send an empty list like this, so that the tool is not at fault; a single answer cannot show it.
_EMPTY_LIST: Final = ResultVerdict(
    is_valid=True,
    is_error=False,
    classification=Classification.FULLY_WORKING,
    confidence=100.0,
    evidence=("an empty list, which the framework sends without a text block",),
)
# Bytes of an answer, and of an entry of a list, that is judged as it is.
MOST_WHOLE: Final = 1 << 20
# Values of an answer whose verdict is made of the whole.
MOST_VALUES: Final = 1_200_000
# Characters of an excerpt, and the fewest that an entry of it gets.
_ROOM: Final = 256 * 1024
_LEAST: Final = 64
_MOST_ENTRIES: Final = 200
# Secrets are looked for around each cut: half of one would not be seen in the excerpt.
_AROUND: Final = 4_096
_MOST_CUTS: Final = 32
# What one value weighs beside its characters.
_VALUE_BYTES: Final = 8
CUT_MARK: Final = re.compile(r"… \([\d,]{1,20} characters in all; BLAKE2 [0-9a-f]{16}\)\Z")


@dataclass(frozen=True, kw_only=True)
class PlannedCall:
    """A scenario before it is run: its name, what to send, and what is wrong with that on purpose.

    `absent` is the parameter whose value names a thing that does not exist, or "", and `present` the value that a
    listing has for it. `first` is the tool that is to be called before, or "". One that is `made` has the arguments of
    an earlier call, whose outcome it shares.
    """

    name: str
    category: Category
    arguments: Mapping[str, object]
    origin: str
    intended: IntendedViolation | None = None
    absent: str = ""
    present: object = None
    first: str = ""
    made: bool = False


class SeededChoice:
    """Seed 0 takes what comes first; any other seed takes others, and always the same ones for the same `topic`."""

    def __init__(self, seed: int, topic: str) -> None:
        self._random = random.Random(f"{seed}/{topic}") if seed else None  # noqa: S311 - to vary, not to hide

    def one(self, options: Sequence[T]) -> T:
        """One of the options, of which there is at least one."""
        return options[0] if self._random is None else self._random.choice(options)

    def some(self, options: Sequence[T], most: int) -> list[T]:
        """At most `most` of the options, in their order. Seed 0 spreads evenly over them."""
        if len(options) <= most:
            return list(options)
        if self._random is None:
            return [options[index * len(options) // most] for index in range(most)]
        return [options[index] for index in sorted(self._random.sample(range(len(options)), most))]


@dataclass(frozen=True)
class AssessedScenario:
    """A scenario of the report with the call that rules judge; `call` is None if nothing was sent.

    `mask` knows the secrets of the call. To learn them takes longer than all other judging, so it is done once.
    """

    scenario: Scenario
    call: ObservedCall | None = None
    mask: SecretMask = field(default_factory=SecretMask)


def observe(
    tool: ToolDefinition,
    plan: PlannedCall,
    reply: Reply,
    *,
    protocol_version: str,
    detail: str = "",
    preview: Preview | None = None,
    check: ResultCheck = _DEFAULT_CHECK,
    files: tuple[FileChange, ...] | None = None,
) -> ObservedCall:
    """Return the planned call with its outcome. Only an answer that is a tool result gets a verdict.

    Args:
        tool: The definition of the tool that was called.
        plan: The call that was sent, and its intended fault.
        reply: The reply from the transport.
        protocol_version: The MCP revision of the session that the call went through.
        detail: An explanation of a timeout, for a person to read.
        preview: The verdict of the server's own validator just before the call.
        check: Judges the result.
        files: The differences of the working folder after the call; None if it was not compared.
    """
    facts = ObservedCall(
        tool=tool,
        arguments=plan.arguments,
        outcome=Outcome.INVALID_MESSAGE,
        category=plan.category,
        intended=plan.intended,
        absent=plan.absent,
        present=plan.present,
        violations=compiled(tool.input_schema).violations(plan.arguments),
        protocol_version=protocol_version,
        duration_ms=round(reply.duration * 1000, 3),
        preview=preview,
        files=files,
    )
    replace = msgspec.structs.replace
    match reply:
        case Answer():
            # The rules read an excerpt of a large result; the verdict is about the whole unless it has too many values.
            result, judged, defined, excerpt = reply.result, reply.result, tool.raw, None
            if len(reply.raw) > MOST_WHOLE:
                part = LargeExcerpt(reply.result)
                is_whole = count_values(reply.result, MOST_VALUES) <= MOST_VALUES
                excerpt = AnswerExcerpt(
                    size=len(reply.raw), verdict_on="whole" if is_whole else "excerpt", borders=tuple(part.borders)
                )
                result = part.value
                if not is_whole:
                    judged, defined = part.value, without(without(tool.raw, "outputSchema"), "outputVariants")
            verdict = check(defined, plan.arguments, judged, plan.category, shape="mcp")
            if check.settings.draft_outputs and has_outputs(result):
                # The rules read content and structuredContent, and the schema of the variant that was sent.
                view, result = read_outputs(view_of(tool.raw), result)
                facts = replace(facts, tool=replace(tool, output_schema=view.output_schema))
            call = replace(facts, outcome=Outcome.RESULT, result=result, verdict=verdict, excerpt=excerpt)
            return replace(call, verdict=_EMPTY_LIST) if is_empty_list(call) else call
        case RpcError():
            error, excerpt = read_error(reply)
            verdict = check(tool.raw, plan.arguments, error_as_result(error), plan.category)
            return replace(facts, outcome=Outcome.PROTOCOL_ERROR, error=error, error_verdict=verdict, excerpt=excerpt)
        case TimedOut():
            return replace(facts, outcome=Outcome.TIMEOUT, detail=detail)
        case ConnectionLost():
            code = "" if reply.exit_code is None else f" with exit code {reply.exit_code}"
            words = f"{reply.reason}{code}\n{reply.stderr_tail}".strip()
            return replace(facts, outcome=Outcome.SERVER_DIED, detail=words)
        case Malformed():
            return replace(facts, detail=explain_malformed(reply))


def read_error(reply: RpcError) -> tuple[ProtocolError, AnswerExcerpt | None]:
    """Return the JSON-RPC error that rules read, and the facts about the whole if it is an excerpt."""
    if len(reply.raw) <= MOST_WHOLE:
        return ProtocolError(code=reply.code, message=reply.message, data=reply.data), None
    part = LargeExcerpt({"message": reply.message, "data": reply.data})
    kept = members(part.value)
    error = ProtocolError(code=reply.code, message=str(kept["message"]), data=kept["data"])
    return error, AnswerExcerpt(size=len(reply.raw), verdict_on="excerpt", borders=tuple(part.borders))


def explain_malformed(reply: Malformed) -> str:
    """Why an answer cannot be read: for half a surrogate pair, parsers say only where the text seems to end."""
    if len(reply.raw) <= MOST_WHOLE and has_half_character(reply.raw):
        return "it contains half of a surrogate pair, which is not a character"
    return reply.reason


def assess_call(number: int, plan: PlannedCall, call: ObservedCall, target: Target) -> AssessedScenario:
    """The call with its scenario; the arguments are those of `scenario_of`."""
    mask = mask_of(call)
    return AssessedScenario(scenario_of(number, plan, call, target, mask), call, mask)


def scenario_of(number: int, plan: PlannedCall, call: ObservedCall, target: Target, mask: SecretMask) -> Scenario:
    """The call as the report shows it: secrets removed, long payloads cut.

    `number` counts the scenarios of the tool from 1 and makes the id. `target` is the server, for the command that
    makes the call again. `mask` knows the secrets of the call.
    """
    passed, note = judge_scenario(call)
    arguments = members(plan.arguments if call.is_own else redact(plan.arguments))
    answer = call.result if call.error is None else {"error": msgspec.to_builtins(call.error)}
    verdict = verdict_of(call)
    shown_note = _shown_words(note, mask)
    if call.excerpt is not None:
        said = "judged" if call.excerpt.verdict_on == "excerpt" else "shown, and judged by all but its verdict"
        shown_note = f"{shown_note}; of {call.excerpt.size:,} bytes an excerpt is {said}".removeprefix("; ")
    return Scenario(
        id=_scenario_id(call.tool, number),
        name=plan.name,
        category=plan.category,
        arguments=shorten_payload(arguments),
        outcome=call.outcome.value,
        passed=passed,
        result=shorten_payload(mask.value(answer)),
        verdict=Verdict(
            classification=verdict.classification,
            confidence=verdict.confidence,
            is_valid=verdict.is_valid,
            is_error=verdict.is_error,
            error_kind=verdict.error_kind,
            state=verdict.state,
            retry=verdict.retry,
            issues=[_shown_words(issue, mask) for issue in verdict.issues[:_MOST_WORDS]],
            evidence=[_shown_words(evidence, mask) for evidence in verdict.evidence[:_MOST_WORDS]],
        )
        if verdict is not None
        else None,
        duration_ms=call.duration_ms,
        breaks=plan.intended.keyword if plan.intended else None,
        note=shown_note,
        outage=outage_of_call(call) is not None,
        framework=framework_of(call) if ending(call) in REFUSALS else None,
        origin=plan.origin,
        reproduce=reproduce_call(target, call.tool.name, arguments),
    )


def mask_of(call: ObservedCall) -> SecretMask:
    """What must not be quoted of this call: the user's secrets that were sent, and those that came back."""
    answer = call.result if call.error is None else msgspec.to_builtins(call.error)
    borders = () if call.excerpt is None else call.excerpt.borders
    return SecretMask.learned(None if call.is_own else call.arguments, answer, words_of(call), *borders)


def _shown_words(words: str, mask: SecretMask) -> str:
    return mask.text(words[:_LONGEST_READ])[:_LONGEST_STRING]


def unsent_scenario(number: int, plan: PlannedCall, tool: ToolDefinition, reason: str) -> Scenario:
    """A scenario that was planned and not sent; `reason` says why."""
    return Scenario(
        id=_scenario_id(tool, number),
        name=plan.name,
        category=plan.category,
        arguments=shorten_payload(redact(plan.arguments)),
        outcome="not_run",
        passed=False,
        breaks=plan.intended.keyword if plan.intended else None,
        note=reason,
        origin=plan.origin,
    )


def same_scenario(number: int, plan: PlannedCall, made: Scenario) -> Scenario:
    """A scenario whose call was made before as another one, with the outcome of that call."""
    tool = made.id.rpartition("/")[0]
    return msgspec.structs.replace(
        made,
        id=f"{tool}/{number}",
        name=plan.name,
        category=plan.category,
        note=f"{made.note} (the same call as '{made.name}')".lstrip(),
        same_as=made.id,
    )


def judge_scenario(call: ObservedCall) -> tuple[bool, str]:
    """Whether a scenario passed, and why, in a sentence.

    A call with valid arguments passes when its result is fully working: a success without issues, or an error of the
    business kind (the tool works, and what was asked for is not there). An error case passes only when the server
    really refused the arguments; where the schema does not forbid what was sent, accepting it is as good.
    """
    ended = ending(call)
    missing = outage_of_call(call)
    if missing is not None:
        return False, f"an outage, which counts neither way: missing is {missing}"
    if ended in _WITHOUT_ANSWER:
        return False, f"{_WITHOUT_ANSWER[ended]}: {call.detail}".rstrip(": ").splitlines()[0]
    if ended is Ending.UNFINISHED:
        return True, "wants input or a task first, which an assessment cannot give"
    if call.intended is not None:
        return _judge_intended(call, call.intended, ended)
    if ended in {Ending.PROTOCOL_REFUSAL, Ending.PROTOCOL_FAILURE}:
        return False, "a protocol error for a call that its schema allows"
    if ended is Ending.SUCCESS and asks_for_nothing(call):
        return True, "answered; nothing was asked for"
    verdict = verdict_of(call)
    if ended is Ending.FAILURE and not fails_by_itself(call):
        return True, "answered: a refusal in words that are unclear"
    if ended is Ending.UNFLAGGED_ERROR and call.absent:
        return False, f"says that there is no such {call.absent}, and not that this is an error"
    if verdict is None or verdict.classification != "fully_working":
        return False, verdict.issues[0] if verdict and verdict.issues else f"the call ended in a {ended.value}"
    return True, f"answered: {verdict.state or 'an expected error'}" if verdict.is_error else "answered"


def _judge_intended(call: ObservedCall, intended: IntendedViolation, ended: Ending) -> tuple[bool, str]:
    if ended in REFUSALS:
        framework = framework_of(call)
        return True, f"refused by {framework}, as it should be" if framework else "refused, as it should be"
    if ended is Ending.UNFLAGGED_ERROR and call.rejected:
        return True, "refused, though without isError"
    if ended is Ending.SUCCESS and intended.declared and is_only_unknown(call):
        return True, "accepted: the unknown argument was ignored, as SDKs do"
    if ended is Ending.SUCCESS and not intended.declared:
        return True, "accepted; the schema does not forbid it"
    if ended is Ending.SUCCESS:
        return False, "accepted although invalid"
    if not intended.declared:
        return False, "the call failed, and the schema allows it"
    return False, "the tool failed instead of refusing the arguments"


def _scenario_id(tool: ToolDefinition, number: int) -> str:
    """The name behind the last slash is the number, so a tool's own slashes do no harm."""
    return f"{tool.name}/{number}"


def shown_text(text: str) -> str:
    """Return a server's text about itself or an item of its lists, for a report: without secrets, and cut."""
    safe = redact_text(text[: 4 * _LONGEST_TEXT])
    more = len(text) - _LONGEST_TEXT
    return safe if more <= 0 else f"{safe[:_LONGEST_TEXT]}… ({more} more characters)"


def shorten_payload(value: object, depth: int = 0) -> object:
    """A payload small enough for a report; a note says how much was cut."""
    if isinstance(value, str):
        more = len(value) - _LONGEST_STRING
        if more <= 0:
            return value
        # An excerpt's note about the whole stays.
        mark = CUT_MARK.search(value, len(value) - _LONGEST_MARK)
        return value[:_LONGEST_STRING] + (mark[0] if mark else f"… ({more} more characters)")
    if depth > _DEEPEST and (is_object(value) or is_array(value)):
        return "… (nested deeper)"
    if is_object(value):
        shown = {str(key): shorten_payload(entry, depth + 1) for key, entry in islice(value.items(), _MOST_MEMBERS)}
        return shown if len(value) <= _MOST_MEMBERS else {**shown, "…": f"{len(value) - _MOST_MEMBERS} more members"}
    if is_array(value):
        kept = [shorten_payload(entry, depth + 1) for entry in value[:_MOST_ITEMS]]
        return kept if len(value) <= _MOST_ITEMS else [*kept, f"… ({len(value) - _MOST_ITEMS} more items)"]
    return value


class LargeExcerpt:
    """The excerpt of `whole`: its `value`, and in `borders` the texts around the places where strings were cut."""

    def __init__(self, whole: object, room: int = _ROOM) -> None:
        self.borders: list[str] = []
        self.value = self._part(whole, room)

    def _part(self, value: object, room: int) -> object:
        if isinstance(value, str):
            return value if len(value) <= max(room, _LEAST) else self._cut(value, max(room, _LEAST))
        if is_object(value):
            kept = list(islice(value.items(), _entries(len(value), room)))
            each = room // max(len(kept), 1)
            return {
                name if len(name) <= 4 * _LEAST else self._cut(name, 4 * _LEAST): self._part(entry, each)
                for name, entry in kept
            }
        if is_array(value):
            items = value[: _entries(len(value), room)]
            return [self._part(item, room // max(len(items), 1)) for item in items]
        return value

    def _cut(self, text: str, room: int) -> str:
        digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
        if len(self.borders) == _MOST_CUTS:
            room = 0
        else:
            self.borders.append(text[max(0, room - _AROUND) : room + _AROUND])
        return f"{text[:room]}… ({len(text):,} characters in all; BLAKE2 {digest})"


def is_heavy(value: object, most: int) -> bool:
    """Whether a JSON value weighs more than `most` bytes, about. Reads no more of it than that.

    >>> is_heavy({"a": ["b" * 2_000]}, 1_000), is_heavy({"a": ["b"]}, 1_000)
    (True, False)
    """
    level: list[object] = [value]
    weight = 0
    while level:
        weight += _VALUE_BYTES * len(level)
        # If there are too many texts, they are not even looked at.
        if weight <= most:
            weight += sum(len(each) for each in level if isinstance(each, str))
            weight += sum(len(name) for each in level if is_object(each) for name in each)
        if weight > most:
            return True
        level = gc.get_referents(*(each for each in level if isinstance(each, dict | list)))
    return False


def light(entry: object) -> tuple[object, bool]:
    """An entry of a list as it is, and False; of one that is too heavy to be judged an excerpt, and True."""
    if not is_heavy(entry, MOST_WHOLE):
        return entry, False
    return LargeExcerpt(entry).value, True


def _entries(count: int, room: int) -> int:
    return min(count, _MOST_ENTRIES, max(1, room // _LEAST))

"""`check_conversation`: judges all of a conversation: arguments, results and answers, turn by turn."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Unpack, cast

import msgspec

from toolvet.core.checks.answer import AnswerQuality
from toolvet.core.checks.arguments import ArgumentReport, check_arguments
from toolvet.core.checks.result import ResultCheck, ResultVerdict
from toolvet.core.json_form import JsonForm
from toolvet.core.json_value import elements, is_object, members
from toolvet.core.messages import ToolCall, Turn, turns
from toolvet.core.tools import view_of
from toolvet.core.turn.check import AnswerCheck, AnswerOptions, read_turn
from toolvet.core.turn.ledger.outcome import as_response

_MOST_TOOLS = 10_000


class CallVerdict(JsonForm, msgspec.Struct, frozen=True, eq=False):
    """The verdict on one call of a turn.

    `arguments` is None if the tool has no definition, `result` if the call has no result. The messages contain the
    arguments and the result of the call, and the JSON form does not repeat them.
    """

    _adds = ("name", "failed", "id")
    _hides = ("call",)
    _nulls = ("result",)

    call: ToolCall
    arguments: ArgumentReport | None
    result: ResultVerdict | None

    @property
    def name(self) -> str:
        """The name of the tool that was called."""
        return self.call.name

    @property
    def id(self) -> str | None:
        """The id of the call; None if the messages have none."""
        return self.call.id

    @property
    def failed(self) -> bool:
        """Whether the arguments are invalid, or the result is an error."""
        refused = self.arguments is not None and not self.arguments.valid
        broken = self.result is not None and self.result.reports_error
        return refused or broken or self.call.failed is True


class TurnVerdict(JsonForm, msgspec.Struct, frozen=True, eq=False):
    """The verdict on one turn: on its answer, None if it has none, and on each of its calls."""

    _adds = ("messages", "notes")
    _hides = ("turn",)
    _nulls = ("answer",)

    turn: Turn
    answer: AnswerQuality | None
    calls: tuple[CallVerdict, ...]

    @property
    def messages(self) -> tuple[int, ...]:
        """The places of the messages that the turn was read from."""
        return tuple(self.turn.indices)

    @property
    def notes(self) -> tuple[str, ...]:
        """What could not be read of the turn."""
        return tuple(self.turn.notes)


class ConversationVerdict(JsonForm, msgspec.Struct, frozen=True, eq=False):
    """The verdict on a conversation: on each of its turns, in order."""

    _adds = ("should_escalate",)

    turns: tuple[TurnVerdict, ...]

    @property
    def should_escalate(self) -> bool:
        """Whether a person should look at an answer of it."""
        return any(each.answer is not None and each.answer.should_escalate for each in self.turns)

    @property
    def failed_calls(self) -> tuple[CallVerdict, ...]:
        """The calls with invalid arguments, or with an error for a result."""
        return tuple(call for each in self.turns for call in each.calls if call.failed)


class ConversationCheck:
    """A check of conversations, for many under the same options.

    Args:
        tools: the definitions of the tools, as `check_arguments` takes them. None: those that a conversation has under
            `tools` beside its messages.
        answers: the check of answers, with its options. None: that of `check_conversation`.
        results: the check of results, with its settings.
    """

    def __init__(
        self, *, tools: object = None, answers: AnswerCheck | None = None, results: ResultCheck | None = None
    ) -> None:
        self._tools = None if tools is None else _by_name(tools)
        self._answers = answers if answers is not None else AnswerCheck()
        self._results = results if results is not None else ResultCheck()

    def __call__(self, messages: object) -> ConversationVerdict:
        """Judge one conversation; see `check_conversation`."""
        tools = self._tools
        if tools is None:
            beside = members(messages)
            tools = _by_name(beside.get("tools", members(beside.get("toolConfig")).get("tools", ())))
        verdicts: list[TurnVerdict] = []
        listed = turns(messages)
        # Where no tool is known, an announcement announces words.
        has_tools = bool(tools) or any(turn.calls for turn in listed)
        witness = None
        for turn in listed:
            quality = None
            if turn.answer is not None:
                ends = has_tools and turn is listed[-1] and all(call.answered for call in turn.calls)
                witness = read_turn(turn.calls, turn.context, witness)
                quality = self._answers.compared(turn.answer, witness, finish_reason=turn.finish_reason, ends=ends)
            verdicts.append(TurnVerdict(turn, quality, tuple(self._call(call, tools) for call in turn.calls)))
        return ConversationVerdict(tuple(verdicts))

    def _call(self, call: ToolCall, tools: Mapping[str, object]) -> CallVerdict:
        tool = tools.get(call.name)
        # Of a result without a call the arguments are not known.
        report = (
            None if tool is None or call.arguments is None else check_arguments(tool, call.arguments, unchecked="pass")
        )
        verdict = None
        if call.answered:
            response = as_response(call.result)
            if call.failed and is_object(response):
                response = {**response, "isError": True}
            sent: object = call.arguments
            if isinstance(sent, str):
                # Some APIs write the arguments as JSON in a text.
                with suppress(msgspec.DecodeError, UnicodeEncodeError, RecursionError):
                    sent = msgspec.json.decode(sent)
            verdict = self._results({"name": call.name} if tool is None else tool, sent, response)
        return CallVerdict(call, report, verdict)


def check_conversation(
    messages: object, *, tools: object = None, **options: Unpack[AnswerOptions]
) -> ConversationVerdict:
    """Judge all of a conversation: each answer against the calls of its turn, each result, and the arguments of calls.

    An answer may also rest on what came before its turn: the system prompt, earlier questions, and earlier calls.

    Args:
        messages: the messages in any format that `toolvet.turns` reads.
        tools: the definitions of the tools, whose schemas the arguments are checked with. Default: those under `tools`
            beside the messages, where `messages` is a mapping that has them. Without a definition of its tool, the
            arguments of a call are not checked.
        options: how answers are judged; see `AnswerCheck`.

    Raises:
        TypeError: `messages` is not a conversation in a known format, or there is no such option.
        ValueError: An option cannot be used as given.

    Example:
        >>> messages = [
        ...     {"role": "user", "content": "Please mail the report to Ann."},
        ...     {"role": "assistant", "content": "Done, I have sent the report to Ann."},
        ... ]
        >>> verdict = check_conversation(messages)
        >>> verdict.should_escalate, verdict.turns[0].answer.signals[0].label
        (True, 'claimed_without_call')
    """
    return ConversationCheck(tools=tools, answers=AnswerCheck(**options))(messages)


def _by_name(tools: object) -> dict[str, object]:
    """They come as a list, as a `tools/list` result, or in one definition that holds several, as Gemini writes them."""
    listed = members(tools).get("tools", tools)
    found = cast("Sequence[object]", listed) if isinstance(listed, list | tuple) else [listed]
    named: dict[str, object] = {}
    for tool in found[:_MOST_TOOLS]:
        held = members(tool)
        inner = held.get("functionDeclarations", held.get("function_declarations"))
        spec = held.get("toolSpec")
        for definition in elements(inner) if inner is not None else (tool if spec is None else spec,):
            if name := view_of(definition).name:
                named[name] = definition
    return named

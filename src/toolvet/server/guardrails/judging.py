"""The one core of all products: a call, a result or an answer → what is to be done; None: let it pass.

What is judged is what `toolvet hook` judges, by the same functions and under the same policies. Nothing is refused on a
doubt: a tool that nobody declared, a result that says itself that it failed, a claim that the calls do not contradict.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from toolvet.agents.hook import MARK, AgentSession, HookAnswer, HookEvent, MissingWork, after, before, missing
from toolvet.agents.settings import HookSettings
from toolvet.core.json_value import elements, is_object, members
from toolvet.core.redact import redact_text
from toolvet.core.settings import Settings
from toolvet.core.turn import CLAIMED_WITHOUT_CALL, AnswerCheck, judged_ending
from toolvet.proxy.session import Policies, ProxySettings

if TYPE_CHECKING:
    from toolvet.core.turn import AnswerOptions


class GuardrailJudge:
    """Judges for all products, by one settings file.

    Args:
        settings: `[proxy]` has the policies of calls and results, `[checks]` how answers and results are judged,
            `[hook]` whether answers are. None, the default: the defaults of all.
    """

    def __init__(self, settings: Settings | None = None) -> None:
        known = settings or Settings()
        self._policies = Policies(known[ProxySettings])
        self._check = known.result_check()
        options: AnswerOptions = known.answer_options()
        options.setdefault("min_length", 1)
        self._answer_check = AnswerCheck(**options)
        self._judges_ends = known[HookSettings].done != "off"

    def call(self, tool: str, definition: object, arguments: object, *, repairs: bool = False) -> HookAnswer | None:
        """Check the arguments of a call; `repairs` is a product that can make the call with others."""
        if definition is None:
            return None
        policy = self._policies.of(tool)
        if policy.repair == "apply" and not repairs:
            policy = msgspec.structs.replace(policy, repair="suggest")
        return before(HookEvent("before", "", tool=tool, arguments=_decoded(arguments)), definition, policy)

    def result(self, tool: str, definition: object, result: object, arguments: object = None) -> HookAnswer | None:
        """Judge a result; an answer only where it reports a failure and does not say that it is an error."""
        if members(result).get("isError") is True:
            return None
        event = HookEvent("after", "", tool=tool, arguments=arguments, result=result)
        return after(event, definition or {"name": tool}, self._policies.of(tool), self._check)

    def answer(
        self, text: str, messages: Sequence[object], tools: Sequence[object], *, is_whole: bool = False
    ) -> HookAnswer | None:
        """Compare an answer with the calls of its conversation.

        That no call was made is held against an answer only where the messages have all calls, and where all tools that
        the model was offered are functions: what a provider's own tool did is in no message.
        """
        if not self._judges_ends or not text.strip() or not messages:
            return None
        ending = judged_ending([*messages, {"role": "assistant", "content": text}], self._answer_check)
        if ending is None or MARK in ending.turn.question[-2000:]:
            return None
        signal = ending.contradiction
        if signal is None or (signal.label == CLAIMED_WITHOUT_CALL and not (is_whole and _are_functions(tools))):
            return None
        against = signal.against or "no call of this conversation did it"
        work = MissingWork("claimed", signal.evidence or text[:80], f"the calls say: {redact_text(against)}.")
        return HookAnswer("block", work.text())

    def end(self, message: str | None, session: AgentSession) -> HookAnswer | None:
        """Compare the last message of a coding agent with the calls of its session."""
        if not self._judges_ends:
            return None
        found = missing(message, session, check=self._answer_check)
        return None if found is None else HookAnswer("block", found.text())


def _are_functions(tools: Sequence[object]) -> bool:
    return bool(tools) and all("function" in members(tool) or "inputSchema" in members(tool) for tool in tools)


def _decoded(arguments: object) -> object:
    """Arguments as an object, where a product has them as the JSON text that the model wrote."""
    if not isinstance(arguments, str):
        return arguments
    try:
        value: object = msgspec.json.decode(arguments or "{}")
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return arguments
    return value if is_object(value) else arguments


def noted(result: object, note: str) -> Mapping[str, object]:
    """Return a tool result of MCP with a note behind its content."""
    held = members(result)
    blocks: list[object] = [*elements(held.get("content")), {"type": "text", "text": note}]
    return {**held, "content": blocks}

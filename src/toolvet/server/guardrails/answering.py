"""One request of a product → the JSON of its answer: judge what the product's table names, and fill in its form.

`GuardrailJudge` judges for all products, by the functions and policies of `toolvet hook`. When in doubt, it does not
refuse: an undeclared tool, a result that itself reports a failure, a claim that the calls do not contradict.
`hook_reply` answers a coding agent's http hook. It reads no transcript. The calls are known from the events themselves.
The tools of servers are known from what was declared, and for admins also from the lists that `toolvet hook` keeps on
this machine.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from toolvet.agents.hook import (
    MARK,
    AgentSession,
    HookAnswer,
    HookEvent,
    MissingWork,
    after,
    before,
    definition_of,
    dialect_of,
    missing,
    read_event,
    server_of,
    tool_prefix,
)
from toolvet.agents.settings import HookSettings
from toolvet.core.json_value import elements, is_array, is_object, members
from toolvet.core.redact import redact_text
from toolvet.core.settings import Settings
from toolvet.core.turn import AFTER_FAILURE, NOT_PERSISTED, WRONG_TARGET, WRONG_VALUE, judged_ending
from toolvet.proxy.session import Policies, ProxySettings
from toolvet.server.guardrails.dialect import (
    GuardrailDialect,
    GuardrailMoment,
    Product,
    filled,
    found_at,
    guardrail_dialect,
    moments_by_path,
)
from toolvet.server.guardrails.memory import GuardrailConversation, GuardrailMemory, by_name

_MOST_CALLS: Final = 200
# Faults that rest on a call in the messages; anything else needs all calls of the conversation.
_OF_A_CALL: Final = frozenset({AFTER_FAILURE, WRONG_TARGET, WRONG_VALUE, NOT_PERSISTED})
_HEADER: Final = "header:"


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
        self._answer_check = known.answer_check()
        self._judges_ends = known[HookSettings].done != "off"

    def call(self, tool: str, definition: object, arguments: object, *, repairs: bool = False) -> HookAnswer | None:
        """Check the arguments of a call; `repairs` is a product that can make the call with others."""
        if definition is None:
            return None
        policy = self._policies.of(tool)
        if policy.repair == "apply" and not repairs:
            policy = msgspec.structs.replace(policy, repair="suggest")
        if isinstance(arguments, str):
            # Some products have them as the JSON text that the model wrote.
            try:
                decoded: object = msgspec.json.decode(arguments or "{}")
            except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
                decoded = None
            arguments = decoded if is_object(decoded) else arguments
        return before(HookEvent("before", "", tool=tool, arguments=arguments), definition, policy)

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
        if signal is None:
            return None
        if signal.label not in _OF_A_CALL:
            are_functions = all("function" in members(tool) or "inputSchema" in members(tool) for tool in tools)
            if not (is_whole and tools and are_functions):
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


class GuardrailState:
    """What one server needs for its answers: its memory, and the judge of its settings."""

    def __init__(self) -> None:
        self.memory = GuardrailMemory()
        self._judge: tuple[Settings | None, GuardrailJudge] | None = None

    def judge(self, settings: Settings | None) -> GuardrailJudge:
        """Return the judge of these settings, made once."""
        if self._judge is None or self._judge[0] is not settings:
            self._judge = (settings, GuardrailJudge(settings))
        return self._judge[1]


class GuardrailQuestion(msgspec.Struct, frozen=True):
    """One request: whose, over which route, with which body and headers. An admin may use our cached tool lists."""

    product: Product
    path: str
    body: Any
    who: str = ""
    headers: Mapping[str, str] = {}
    is_admin: bool = False


class MissingMemberError(Exception):
    """The body has none of the members of which it needs one; its text is the name."""


def answer_to(asked: GuardrailQuestion, memory: GuardrailMemory, judge: GuardrailJudge) -> object:
    """Return what a product is answered; None if its form of letting something pass is an empty body.

    Raises MissingMemberError if the body is not one of this product's.
    """
    dialect = guardrail_dialect(asked.product)
    given = msgspec.to_builtins(asked.body)
    if dialect.hook:
        return hook_reply(given, asked.who, memory, judge, may_read_lists=asked.is_admin)
    moment = _moment(dialect, asked.path, given)
    if moment.one_of and all(found_at(given, name) is None for name in moment.one_of):
        raise MissingMemberError(moment.one_of[0])
    kind, values = _Reading(asked, moment, given, memory, judge).verdict()
    return filled(dialect.answers[kind], values) if dialect.answers[kind] else None


def _moment(dialect: GuardrailDialect, path: str, given: object) -> GuardrailMoment:
    for name in moments_by_path(dialect)[path]:
        moment = dialect.moments[name]
        if all(found_at(given, member) == value for member, value in moment.when.items()):
            return moment
    raise MissingMemberError(next(iter(dialect.moments[moments_by_path(dialect)[path][0]].when)))


class _Reading:
    """The parts of one body, and what is found in them."""

    def __init__(
        self,
        asked: GuardrailQuestion,
        moment: GuardrailMoment,
        given: object,
        memory: GuardrailMemory,
        judge: GuardrailJudge,
    ) -> None:
        self._moment, self._given, self._memory, self._judge = moment, given, memory, judge
        where = self._moment.conversation
        found = (
            asked.headers.get(where.removeprefix(_HEADER))
            if where.startswith(_HEADER)
            else found_at(self._given, where)
        )
        self._key = (f"{asked.product}:{asked.who}", found) if isinstance(found, str) and found else None
        self._kept = memory.kept(self._key) if self._key is not None else GuardrailConversation()

    def verdict(self) -> tuple[str, dict[str, object]]:
        moment = self._moment
        if self._key is not None and moment.messages:
            tools = elements(found_at(self._given, moment.tools))
            self._memory.keep(self._key, GuardrailConversation(tools, elements(found_at(self._given, moment.messages))))
        refused = self._bad_call() or self._contradicted()
        if refused is not None:
            return "refuse", {"$text": refused}
        rows = self._failed_rows()
        if rows is not None:
            return rows
        if moment.result:
            # A field that the body does not have is null here.
            result = {name: value for name, value in members(self._given).items() if value is not None}
            found = self._judge.result("the tool", None, result)
            if found is not None:
                return "note", {"$result": noted(result, found.text)}
        return "pass", {}

    def _bad_call(self) -> str | None:
        calls = [found for path in self._moment.calls for found in _listed(found_at(self._given, path))]
        if not calls:
            return None
        offered = by_name(self._kept.tools)
        for call in calls[:_MOST_CALLS]:
            name = found_at(call, self._moment.name)
            if isinstance(name, str):
                definition = offered.get(name) or self._memory.definition(name)
                found = self._judge.call(name, definition, found_at(call, self._moment.arguments))
                if found is not None:
                    return f"toolvet: the call of {name[:120]} was not made. {found.text}"
        return None

    def _contradicted(self) -> str | None:
        # A text beside calls is not the last word.
        if not self._moment.answer or any(_listed(found_at(self._given, path)) for path in self._moment.calls):
            return None
        is_whole = found_at(self._given, self._moment.whole) is True
        for each in _listed(found_at(self._given, self._moment.answer)):
            text = each if isinstance(each, str) else found_at(each, "message.content")
            if not isinstance(text, str):
                continue
            found = self._judge.answer(text, self._kept.messages, self._kept.tools, is_whole=is_whole)
            if found is not None:
                return found.text
        return None

    def _failed_rows(self) -> tuple[str, dict[str, object]] | None:
        if not self._moment.rows:
            return None
        rows = list(elements(found_at(self._given, self._moment.rows)))
        is_changed = False
        for at, row in enumerate(rows):
            held = members(row)
            content = held.get("content")
            if held.get("role") != "tool" or not content:
                continue
            found = self._judge.result(f"{held.get('name') or 'the tool'}", None, content)
            if found is not None and isinstance(content, str):
                rows[at], is_changed = {**held, "content": f"{content}\n\n{found.text}"}, True
            elif found is not None:
                part = {"type": "text", "text": found.text}
                rows[at], is_changed = {**held, "content": [*elements(content), part]}, True
        return ("note", {"$rows": rows}) if is_changed else None


def _listed(value: object) -> list[object]:
    return [] if value is None else list(elements(value)) if is_array(value) else [value]


def noted(result: object, note: str) -> Mapping[str, object]:
    """Return a tool result of MCP with a note behind its content."""
    held = members(result)
    blocks: list[object] = [*elements(held.get("content")), {"type": "text", "text": note}]
    return {**held, "content": blocks}


_PROMPT: Final = "UserPromptSubmit"


def hook_reply(
    given: object, who: str, memory: GuardrailMemory, judge: GuardrailJudge, *, may_read_lists: bool = False
) -> object:
    """Return what Claude Code is answered; an empty object lets it go on."""
    dialect = dialect_of("claude")
    event = read_event(dialect, given)
    key = (who, event.session)
    held = members(given)
    answer: HookAnswer | None = None
    if event.name == _PROMPT:
        memory.says(key, f"{held.get('prompt', '')}")
    elif event.moment == "before":
        definition = _definition(event, memory, may_read_lists=may_read_lists)
        answer = judge.call(event.tool, definition, event.arguments, repairs=True)
    elif event.moment == "after":
        # A sub-agent's calls are not in the transcript of its session either.
        if held.get("agent_id") is None:
            memory.calls(key, event.tool, event.arguments, event.result, failed=event.failed is True)
        if event.tool.startswith("mcp__") and not event.failed:
            definition = _definition(event, memory, may_read_lists=False)
            answer = judge.result(event.tool, definition, event.result, event.arguments)
    elif event.moment == "end" and not event.continued:
        session = memory.session(key)
        answer = None if session is None else judge.end(event.message, session)
    if answer is None:
        return {}
    values = {"$event": event.name, "$text": answer.text, "$arguments": answer.arguments}
    return filled(dialect.output[answer.kind], values)


def _definition(event: HookEvent, memory: GuardrailMemory, *, may_read_lists: bool) -> object:
    if not event.tool.startswith("mcp__"):
        return None
    dialect = dialect_of("claude")
    prefixes = {tool_prefix(dialect, server): server for server in memory.servers()}
    prefix = max((each for each in prefixes if event.tool.startswith(each)), key=len, default=None)
    found = None if prefix is None else memory.definition(event.tool.removeprefix(prefix), prefixes[prefix])
    if found is None and may_read_lists:
        known = server_of("claude", dialect, event)
        # Nothing is started, and no request waits.
        found = None if known is None else definition_of(known[0], known[1], wait=0, may_ask=False)[0]
    return found

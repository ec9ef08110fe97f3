"""One request of a product → the JSON of its answer: what its table says is there is judged, and its form filled in."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from toolvet.core.json_value import elements, is_array, members
from toolvet.core.settings import Settings
from toolvet.server.guardrails.coding_agent import hook_reply
from toolvet.server.guardrails.dialect import (
    GuardrailDialect,
    GuardrailMoment,
    Product,
    filled,
    found_at,
    guardrail_dialect,
    moments_by_path,
)
from toolvet.server.guardrails.judging import GuardrailJudge, noted
from toolvet.server.guardrails.memory import GuardrailMemory, KeptConversation, Key, by_name

_MOST_CALLS: Final = 200
_HEADER: Final = "header:"


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
    """Return what a product is answered; None where its form of letting something pass is an empty body.

    Raises MissingMemberError where the body is not one of this product's.
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
        self._key = self._conversation(asked)
        self._kept = memory.kept(self._key) if self._key is not None else KeptConversation()

    def verdict(self) -> tuple[str, dict[str, object]]:
        """Return the kind of answer, and what its form needs."""
        moment = self._moment
        if self._key is not None and moment.messages:
            tools = elements(found_at(self._given, moment.tools))
            self._memory.keep(self._key, KeptConversation(tools, elements(found_at(self._given, moment.messages))))
        refused = self._bad_call() or self._contradicted()
        if refused is not None:
            return "refuse", {"$text": refused}
        return self._failed_rows() or self._failed_result() or ("pass", {})

    def _conversation(self, asked: GuardrailQuestion) -> Key | None:
        where = self._moment.conversation
        found = (
            asked.headers.get(where.removeprefix(_HEADER))
            if where.startswith(_HEADER)
            else found_at(self._given, where)
        )
        return (f"{asked.product}:{asked.who}", found) if isinstance(found, str) and found else None

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
        # Beside calls a text is no last word.
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

    def _failed_result(self) -> tuple[str, dict[str, object]] | None:
        if not self._moment.result:
            return None
        # A field that the body does not have is null here.
        result = {name: value for name, value in members(self._given).items() if value is not None}
        found = self._judge.result("the tool", None, result)
        return None if found is None else ("note", {"$result": noted(result, found.text)})


def _listed(value: object) -> list[object]:
    return [] if value is None else list(elements(value)) if is_array(value) else [value]

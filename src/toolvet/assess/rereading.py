"""Calls readers again after a tool that changes things, so that the rules can compare their answers.

    create_task    returned {"id": 7}      get_task(7) must succeed, and list_tasks must return something new
    delete_task    was called with 7       get_task(7) must fail
    a read-only    tool was called         list_tasks must still return what it returned before
    any reader     succeeded once          and must do so again where all its later calls said "already …"

An answer counts only if the same call returns it twice.
"""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from toolvet.assess.guard import action_of
from toolvet.assess.harvest import Harvest, Name, name_of
from toolvet.assess.judge import ToolRun
from toolvet.assess.rules import ObservedCall, ToolDefinition
from toolvet.assess.rules.catalog.effects import changed_entries
from toolvet.assess.rules.contrast import list_sizes
from toolvet.assess.rules.ending import Ending, ending, is_conflict, is_plain, words_of
from toolvet.core.json_value import members
from toolvet.core.tool_rules import Consequence

Ask: TypeAlias = Callable[[ToolDefinition, Mapping[str, object]], Awaitable[ObservedCall | None]]
_MOST_WITNESSES: Final = 2
_MOST_SUSPECTS: Final = 8
# Generated or started things need not be in a list.
_LISTING: Final = frozenset({"list", "get", "all", "show"})
_KEEPING: Final = frozenset({"add", "create", "insert", "new"})


class Rereading:
    """Calls the readers of a server; `seen` has what the rules judge. `ask` returns None if no answer came."""

    def __init__(self, ask: Ask, harvest: Harvest) -> None:
        self.seen: list[Consequence] = []
        self._ask = ask
        self._harvest = harvest

    async def of_readers(self, readers: Sequence[ToolRun]) -> None:
        """Find a read-only tool after whose call another one returns less, or something else."""
        done = [first for run in readers if (first := _success(run)) is not None]
        suspects = [call for call in done if call.tool.annotations.get("readOnlyHint") is True][:_MOST_SUSPECTS]
        witnesses = [call for call in done if not call.arguments and any(list_sizes(call))][:_MOST_WITNESSES]
        if not witnesses or not any(call.tool.name != witnesses[0].tool.name for call in suspects):
            return
        answers = [(witness, await self._twice(witness)) for witness in witnesses]
        changed = [before for witness, before in answers if before and changed_entries(witness, before)[0]]
        if not changed:
            for action in suspects:
                await self._ask(action.tool, members(action.arguments))
            again = [(before, await self._twice(before)) for _, before in answers if before]
            changed = [after for before, after in again if after and changed_entries(before, after)[0]]
        # Few servers need the calls that tell who it was.
        for before in changed:
            for action in [action for action in suspects if action.tool.name != before.tool.name]:
                await self._ask(action.tool, members(action.arguments))
                after = await self._twice(before)
                if after is not None and await self._repeats(action, before, after):
                    self.seen.append(Consequence(action=action, before=before, after=after))
                    break

    async def _repeats(self, action: ObservedCall, before: ObservedCall, after: ObservedCall) -> bool:
        """Whether a change after a call is a loss, or comes with the next call, too, and never without one."""
        lost, new = changed_entries(before, after, action)
        if not (lost and new):
            return bool(lost)
        still = await self._twice(after)
        if still is None or words_of(still) != words_of(after):
            return False
        await self._ask(action.tool, members(action.arguments))
        later = await self._twice(after)
        return later is not None and bool(changed_entries(after, later, action)[0])

    async def of_conflicts(self, readers: Sequence[ToolRun]) -> None:
        """Repeat the first success of a reader if all its later calls met a conflict: a reader makes nothing."""
        for run in readers:
            valid = [call for call in run.calls if is_plain(call)]
            if len(valid) > 1 and ending(valid[0]) is Ending.SUCCESS and all(map(is_conflict, valid[1:])):
                first = valid[0]
                again = await self._ask(first.tool, members(first.arguments))
                self.seen += [Consequence(action=first, after=again)] if again and is_conflict(again) else []

    async def of_change(self, run: ToolRun, readers: Sequence[ToolRun]) -> None:
        """Read each thing that a tool created or deleted."""
        kind = action_of(run.definition)
        for reader in readers if kind != "changes" else ():
            tool, first = reader.definition, _success(reader)
            # The verb alone may be different: delete_note_tag is not about the note of get_note.
            if first is None or len({*name_of(run.definition.name)} - {*name_of(tool.name)}) != 1:
                continue
            for action, value in self._things(run, kind, tool):
                after = await self._twice(first, {**members(first.arguments), tool.required[0]: value})
                self.seen += [Consequence(action=action, after=after, value=value)] if after is not None else []
                break
            noun = _shared_noun(run.definition, tool)
            is_list = not first.arguments and _LISTING.issuperset({*name_of(tool.name)} - {noun})
            is_kept = not _KEEPING.isdisjoint(name_of(run.definition.name)) and self._harvest.made((noun, "id"))
            creation = _success(run) if kind == "creates" and is_list and is_kept else None
            if creation is not None and (after := await self._twice(first)) is not None:
                self.seen.append(Consequence(action=creation, before=first, after=after))

    def _things(self, run: ToolRun, kind: str, reader: ToolDefinition) -> Iterator[tuple[ObservedCall, object]]:
        """Yield calls that made or deleted a thing, with its id, which must be all that `reader` requires."""
        if len(reader.required) != 1:
            return
        parameter, noun = reader.required[0], _shared_noun(run.definition, reader)
        name: Name = (noun, "id") if name_of(parameter) == ("id",) else name_of(parameter)
        if name not in {("path",), (noun, "id")}:
            return
        for call in run.calls:
            if not is_plain(call) or ending(call) is not Ending.SUCCESS:
                continue
            given = members(call.arguments)
            if kind == "deletes" and parameter in given:
                yield call, given[parameter]
            for value in self._harvest.made(name) if kind == "creates" else ():
                if str(value) in words_of(call) or value in given.values():
                    yield call, value

    async def _twice(self, call: ObservedCall, arguments: Mapping[str, object] | None = None) -> ObservedCall | None:
        sent = members(call.arguments) if arguments is None else arguments
        one, other = await self._ask(call.tool, sent), await self._ask(call.tool, sent)
        same = one is not None and other is not None and words_of(one) == words_of(other)
        return one if same else None


def _success(run: ToolRun) -> ObservedCall | None:
    return next((call for call in run.calls if is_plain(call) and ending(call) is Ending.SUCCESS), None)


def _shared_noun(tool: ToolDefinition, reader: ToolDefinition) -> str:
    """The last word that two names share: "task" for create_task and list_tasks, "note" for note_add and note_list."""
    return next((word for word in reversed(name_of(tool.name)) if word in name_of(reader.name)), "")

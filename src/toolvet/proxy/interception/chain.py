"""Asks all interceptors of one event, in the order of the draft: the proxy sends requests and receives responses.

    request     mutations one after the other by priority, then validations together
    response    validations together, then mutations

Only an active validation with the severity `error` blocks, or an active interceptor that fails without `fail_open`. On
audit nothing blocks or changes a message. When something blocks, no mutation counts.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias, TypeVar

from toolvet.core.json_value import EMPTY
from toolvet.core.visible import shorten
from toolvet.mcp.interceptors import (
    Interceptor,
    MutatorResult,
    Phase,
    ValidatorResult,
    read_mutation,
    read_validation,
)
from toolvet.proxy.session import FaultKind, PolicyFault

T = TypeVar("T", ValidatorResult, MutatorResult)

_MOST_SHOWN: Final = 300
_MOST_MESSAGES: Final = 5


class InvocationError(Exception):
    """An interceptor gave no answer. The message ends a sentence about it."""


Context: TypeAlias = Mapping[str, object]
Invoke: TypeAlias = Callable[[str, str, Phase, object, Context], Awaitable[object]]
"""Invokes an interceptor by name, event, phase, payload and context. Returns the result; raises InvocationError."""


class ChainEntry(NamedTuple):
    """An interceptor, and how to invoke it."""

    interceptor: Interceptor
    invoke: Invoke


class ChainOutcome(NamedTuple):
    """What becomes of a payload. `blocked` is the sentence for the caller, empty if the message passes."""

    payload: object
    blocked: str
    notes: tuple[PolicyFault, ...]


async def run_chain(
    entries: Sequence[ChainEntry], event: str, phase: Phase, payload: object, context: Context = EMPTY
) -> ChainOutcome:
    """Ask the interceptors that hook into this event and phase. Never raises because of what one of them does."""
    run = _ChainRun(event, phase, context)
    hooked = [each for each in entries if each.interceptor.hooks_into(event, phase)]
    mutators = [each for each in hooked if each.interceptor.type == "mutation"]
    mutators.sort(key=lambda each: (each.interceptor.priority.get(phase, 0), each.interceptor.name))
    validators = [each for each in hooked if each.interceptor.type == "validation"]
    made = payload
    for step in ("mutation", "validation") if phase == "request" else ("validation", "mutation"):
        if step == "validation":
            await asyncio.gather(*(run.validate(each, made) for each in validators))
        else:
            for each in mutators:
                made = await run.mutate(each, made)
                if run.blocks:
                    break
        if run.blocks:
            # The first in the order of the list, whichever answered first.
            first = min(run.blocks, key=lambda block: hooked.index(block[0]))
            notes = tuple(note for note in run.notes if note.kind != "interceptor_change")
            return ChainOutcome(payload, first[1], notes)
    return ChainOutcome(made, "", tuple(run.notes))


class _ChainRun:
    def __init__(self, event: str, phase: Phase, context: Context) -> None:
        self.notes: list[PolicyFault] = []
        self.blocks: list[tuple[ChainEntry, str]] = []
        self._event = event
        self._phase: Phase = phase
        self._context = context

    async def validate(self, entry: ChainEntry, payload: object) -> None:
        found = await self._ask(entry, payload, read_validation)
        interceptor = entry.interceptor
        if found is None or (found.reply.valid and found.severity == "info"):
            return
        reply = found.reply
        said = (
            "; ".join(shorten(each.message, _MOST_SHOWN) for each in reply.messages[:_MOST_MESSAGES])
            or "without a reason"
        )
        words = f"the interceptor '{interceptor.name}' says: {said}"
        if found.blocks and interceptor.mode == "active":
            self.blocks.append((entry, words))
        else:
            self._note("interceptor_finding", f"{words} ({found.severity}; {interceptor.mode})")

    async def mutate(self, entry: ChainEntry, payload: object) -> object:
        found = await self._ask(entry, payload, lambda result: read_mutation(result, payload))
        if found is None or not found.modified:
            return payload
        is_active = entry.interceptor.mode == "active"
        how = "changed" if is_active else "would have changed"
        self._note("interceptor_change", f"the interceptor '{entry.interceptor.name}' {how} the {self._phase}")
        return found.payload if is_active else payload

    async def _ask(self, entry: ChainEntry, payload: object, read: Callable[[object], T | str]) -> T | None:
        interceptor = entry.interceptor
        try:
            found = read(await entry.invoke(interceptor.name, self._event, self._phase, payload, self._context))
        except InvocationError as error:
            found = str(error)
        if not isinstance(found, str):
            return found
        words = f"the interceptor '{interceptor.name}' failed: {shorten(found, _MOST_SHOWN)}"
        self._note("interceptor_failed", words)
        if interceptor.mode == "active" and not interceptor.fail_open:
            self.blocks.append((entry, words))
        return None

    def _note(self, kind: FaultKind, words: str) -> None:
        self.notes.append(PolicyFault(kind, f"{self._event}, {self._phase}: {words}"))

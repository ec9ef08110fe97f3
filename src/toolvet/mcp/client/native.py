"""Find the validator that a server offers, and ask it: from the cache, in batches, then one by one."""

import asyncio
import inspect
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from toolvet.core.checks import (
    Announcement,
    Cache,
    Level,
    ValidationCall,
    ValidationReply,
    ValidationRequest,
    announcement,
    json_key,
    misannounced,
    parse_replies,
    parse_reply,
)
from toolvet.core.json_value import is_object
from toolvet.mcp.client.connection import Connection, OnProgress, reason_of
from toolvet.mcp.client.validation import OnValidationProgress, ValidationProgress

_LOG: Final = logging.getLogger("toolvet.mcp.client")
# Calls in a batch where the server sets no limit: the answer has to fit into one message.
_LARGEST_BATCH: Final = 100


class Offer:
    """One server's announcement. `problem` is what is wrong with an announcement that is not valid, else None."""

    def __init__(self, capabilities: object, clock: Callable[[], float]) -> None:
        self.capabilities = capabilities
        self.announcement: Announcement | None = announcement(capabilities)
        self.problem = misannounced(capabilities)
        caching = self.announcement.caching if self.announcement else None
        self.cache = Cache[str, ValidationReply](caching.ttl if caching else None, clock)
        self.may_cache = self.announcement is not None and self.announcement.may_cache
        self.invalidate_on = caching.invalidate_on if caching else ()
        for problem in self.announcement.problems if self.announcement else ():
            _LOG.warning("the server's announcement is in part unreadable: %s", problem)

    @property
    def announced(self) -> bool:
        """Whether the server announces the capability, in a valid form or not."""
        return self.announcement is not None or self.problem is not None

    def levels(self, wanted: Sequence[Level]) -> tuple[Level, ...]:
        """The wanted levels that the server announces: only these can be asked for."""
        offered = self.announcement.levels if self.announcement else ()
        return tuple(level for level in wanted if level in offered)

    def missing(self, wanted: Sequence[Level]) -> str | None:
        """A sentence about the wanted levels that the server does not announce, or None."""
        lacking = [level for level in wanted if level not in self.levels(wanted)]
        if not lacking:
            return None
        return (
            f"The server does not announce validation of the level {' or '.join(lacking)}, so it was not asked for it."
        )


@dataclass
class Question:
    """One call to ask about. Afterwards it has a `reply`, or a `failure`: the reason for a missing reply."""

    tool: str
    arguments: object
    reply: ValidationReply | None = None
    failure: str | None = None
    notes: list[str] = field(default_factory=list[str])


@dataclass(frozen=True)
class _RequestFailure:
    """Why a request brought no tool result. `silent` where no answer came in time."""

    reason: str
    silent: bool = False


class NativeValidator:
    """Asks one server several questions. `timeout` is in seconds and applies to each request."""

    def __init__(
        self,
        connection: Connection,
        offer: Offer,
        announced: Announcement,
        *,
        levels: Sequence[Level],
        context: Mapping[str, object],
        timeout: float,
        on_progress: OnValidationProgress | None = None,
    ) -> None:
        self._connection = connection
        self._offer = offer
        self._announced = announced
        self._levels = offer.levels(levels) or None
        self._context = context
        self._timeout = timeout
        self._silence: str | None = None
        # Progress is asked for only where the server announces it.
        self._on_progress = on_progress if announced.streaming else None

    async def answer(self, questions: Sequence[Question]) -> None:
        """Fill in `reply` or `failure`. Arguments that are not an object are skipped: no tools/call can carry them."""
        waiting: list[Question] = []
        for question in questions:
            if is_object(question.arguments):
                key = self._key(question)
                question.reply = self._offer.cache.get(key) if key is not None else None
                if question.reply is None:
                    waiting.append(question)
        limit = self._announced.batch_limit or _LARGEST_BATCH
        if limit > 1 and len(waiting) > 1:
            size = min(limit, _LARGEST_BATCH)
            for start in range(0, len(waiting), size):
                await self._ask_together(waiting[start : start + size])
        for question in waiting:
            if question.reply is None:
                await self._ask_alone(question)

    async def _ask_together(self, batch: Sequence[Question]) -> None:
        generation = self._offer.cache.generation
        result = await self._request(batch, is_batch=True)
        replies = result.reason if isinstance(result, _RequestFailure) else parse_replies(result, len(batch))
        if isinstance(replies, str):
            for question in batch:
                question.notes.append(f"The server announces batches, but one failed: {reason_of(replies)}")
            return
        for question, reply in zip(batch, replies, strict=True):
            if isinstance(reply, str):
                question.notes.append(f"A batch brought no verdict: {reason_of(reply)}")
            else:
                self._accept(question, reply, generation)

    async def _ask_alone(self, question: Question) -> None:
        if self._silence is not None:
            question.failure = self._silence
            return
        generation = self._offer.cache.generation
        result = await self._request([question], is_batch=False)
        reply = result.reason if isinstance(result, _RequestFailure) else parse_reply(result)
        if isinstance(reply, str):
            question.failure = reason_of(reply)
        else:
            self._accept(question, reply, generation)

    async def _request(self, questions: Sequence[Question], *, is_batch: bool) -> object:
        if self._silence is not None:
            return _RequestFailure(self._silence, silent=True)
        calls = tuple(ValidationCall(question.tool, question.arguments) for question in questions)
        request = ValidationRequest(calls=calls, is_batch=is_batch, levels=self._levels, context=self._context)
        try:
            async with asyncio.timeout(self._timeout):
                return await self._connection.call_tool(
                    self._announced.method, request.to_dict(), self._report(questions)
                )
        except TimeoutError:
            self._silence = f"'{self._announced.method}' did not answer within {self._timeout:g} s"
            return _RequestFailure(self._silence, silent=True)
        except Exception as error:  # noqa: BLE001 - any exception of a foreign client means that the validator did not answer.
            return _RequestFailure(f"'{self._announced.method}' failed: {reason_of(error)}")

    def _report(self, questions: Sequence[Question]) -> OnProgress | None:
        listener = self._on_progress
        if listener is None:
            return None
        tools = tuple(question.tool for question in questions)

        async def report(done: float, total: float | None, message: str | None) -> None:
            try:
                answer = listener(ValidationProgress(tools, done, total, reason_of(message or "")))
                if inspect.isawaitable(answer):
                    await answer
            except Exception:  # noqa: BLE001 - a listener must not decide whether a call is valid.
                _LOG.exception("on_progress raised")

        return report

    def _accept(self, question: Question, reply: ValidationReply, generation: int) -> None:
        question.reply = reply
        key = self._key(question)
        if key is not None:
            self._offer.cache.keep(key, reply, generation)

    def _key(self, question: Question) -> str | None:
        if not self._offer.may_cache:
            return None
        return json_key(question.tool, question.arguments, list(self._levels or ()), self._context)

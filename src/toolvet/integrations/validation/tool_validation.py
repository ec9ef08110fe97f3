"""Validation for the tools of a server: the schema first, then what the author knows that no schema can say.

    validation = ToolValidation()

    @validation.validator("book_flight", level="runtime")
    async def seats_are_left(arguments, context):
        if not await seats(arguments["flight"]):
            return "No seats are left on this flight."

Knows no framework: `toolvet.integrations.fastmcp` and `toolvet.integrations.sdk` put it into a server.
"""

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, TypeVar

from toolvet.checks.capability import (
    DEFAULT_METHOD,
    EXPERIMENTAL_KEY,
    EXTENSION_ID,
    LEVELS,
    PROTOCOL_VERSION,
    Announcement,
    Caching,
    Level,
    Message,
    input_schema,
    output_schema,
)
from toolvet.errors import UsageError
from toolvet.integrations.validation.judgement import CallJudgement, judgement
from toolvet.integrations.validation.memory import Memory, Question, question
from toolvet.integrations.validation.validator import CheckFunction, FailurePolicy, Findings, Problem, ServerValidator

__all__ = ["Problem", "ToolValidation"]

_Check = TypeVar("_Check", bound=CheckFunction)


class ToolValidation:
    """What a server validates, and how it says so.

    `levels` are those announced, None for those that something checks. `max_batch_size` 1 means no batches.
    `timeout` holds for each validator, in seconds. With `ttl` (seconds) or `invalidate_on` (events of your own naming)
    the findings of validators are remembered; without both they are asked every time. `on_failure` says what a
    validator that raises, hangs or answers nonsense means for the call; each may have its own. Raises UsageError for
    options that cannot be meant.
    """

    def __init__(
        self,
        *,
        version: str = PROTOCOL_VERSION,
        method: str = DEFAULT_METHOD,
        levels: Sequence[Level] | None = None,
        max_batch_size: int = 10,
        ttl: float | None = None,
        invalidate_on: Sequence[str] = (),
        timeout: float = 5.0,
        on_failure: FailurePolicy = "error",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        unknown = sorted({*(levels or ())} - {*LEVELS})
        if unknown:
            raise UsageError(f"levels: {', '.join(unknown)} is none of {', '.join(LEVELS)}")
        if max_batch_size < 1 or timeout <= 0 or (ttl is not None and ttl < 0) or not method:
            raise UsageError("max_batch_size must be at least 1, timeout positive, ttl not negative, method not empty")
        self.method = method
        self.max_batch_size = max_batch_size
        self._version = version
        chosen: list[Level] = [level for level in LEVELS if level in (levels or ())]
        self._levels = None if levels is None else tuple(chosen)
        self._ttl = ttl
        self._invalidate_on = tuple(invalidate_on)
        self._timeout = timeout
        self._on_failure: FailurePolicy = on_failure
        self._remembers = ttl is not None or bool(invalidate_on)
        self._memory = Memory(ttl, clock)
        self._validators: dict[str, list[ServerValidator]] = {}

    def validator(
        self,
        tool: str,
        *,
        level: Level = "semantic",
        timeout: float | None = None,
        on_failure: FailurePolicy | None = None,
    ) -> Callable[[_Check], _Check]:
        """A decorator: the function is asked about each call of `tool` that its schema allows.

        It gets a copy of the arguments, and if it takes a second parameter the context: a mapping with `tool`,
        `purpose` (`call` or `validate`) and, for `validate`, whatever the client sent; that is not to be trusted.
        It returns None for a good call, else a sentence, a `Problem`, or a list of these.
        """
        if level not in LEVELS or (self._levels is not None and level not in self._levels):
            raise UsageError(f"level: {level!r} is none of {', '.join(self._levels or LEVELS)}")

        def register(check: _Check) -> _Check:
            limit = self._timeout if timeout is None else timeout
            policy = on_failure or self._on_failure
            self._validators.setdefault(tool, []).append(
                ServerValidator(check, level=level, timeout=limit, on_failure=policy)
            )
            self._memory.forget(tool=tool)
            return check

        return register

    @property
    def levels(self) -> tuple[Level, ...]:
        """What is checked: the syntax always, by the tool's schema."""
        if self._levels is not None:
            return self._levels
        used = {"syntax", *(validator.level for validator in self._all())}
        found: list[Level] = [level for level in LEVELS if level in used]
        return tuple(found)

    @property
    def announcement(self) -> Announcement:
        """As the server says it. Validators that are added later change it, so read it when it is sent."""
        return Announcement(
            method=self.method,
            version=self._version,
            levels=self.levels,
            asynchronous=any(validator.is_async for validator in self._all()),
            context_aware=any(validator.takes_context for validator in self._all()),
            cacheable=self._remembers,
            caching=Caching(enabled=True, ttl=self._ttl, invalidate_on=self._invalidate_on)
            if self._remembers
            else None,
            batch_validation=self.max_batch_size > 1,
            max_batch_size=self.max_batch_size if self.max_batch_size > 1 else None,
        )

    def announced_in(self, capabilities: Mapping[str, object], era: Literal["legacy", "modern"]) -> dict[str, object]:
        """The capabilities with the announcement: in `experimental`, and in the modern era among `extensions`."""
        said = self.announcement.to_dict()
        homes = [("experimental", EXPERIMENTAL_KEY)]
        if era == "modern":
            homes.append(("extensions", EXTENSION_ID))
        told = dict(capabilities)
        for home, key in homes:
            there = told.get(home)
            told[home] = {**(there if isinstance(there, Mapping) else {}), key: said}
        return told

    def definition(self) -> dict[str, object]:
        """The tool that clients call, as it stands in `tools/list`."""
        return {
            "name": self.method,
            "title": "Validate tool arguments",
            "description": (
                "Checks the arguments of a tool call without making it. Says whether they are valid, "
                "and if not, what is wrong and how to fix it."
            ),
            "inputSchema": input_schema(max_batch_size=self.max_batch_size),
            "outputSchema": output_schema(max_batch_size=self.max_batch_size),
            "annotations": {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True},
        }

    async def judge(
        self,
        tool: Mapping[str, object],
        arguments: object,
        *,
        levels: Iterable[Level] | None = None,
        context: Mapping[str, object] | None = None,
        purpose: Literal["call", "validate"] = "validate",
    ) -> CallJudgement:
        """What is wrong with calling `tool` (its definition) with `arguments`; raises nothing, whatever they are.

        The validators run side by side, those of `levels` only, and none if the schema already refuses the arguments:
        they may rely on its promises.
        """
        found = judgement(tool, arguments)
        if not found.valid:
            return found
        wanted = LEVELS if levels is None else tuple(levels)
        asked = [told for told in self._validators.get(found.tool, ()) if told.level in wanted]
        given = {**(context or {}), "tool": found.tool, "purpose": purpose}
        findings = await self._findings(found.tool, asked, arguments, given)
        messages = [message for finding in findings for message in finding.messages]
        if levels is not None:
            messages += [_unchecked(level) for level in LEVELS if level in wanted and level not in self.levels]
        corrections = tuple(correction for finding in findings for correction in finding.corrections)
        return found.joined(tuple(messages), corrections)

    def invalidate(self, event: str | None = None, *, tool: str | None = None) -> int:
        """Forget what validators found, of one tool or of all; how many answers were dropped.

        `event` must be one of `invalidate_on` (UsageError): a misspelt event would leave stale answers standing.
        """
        if event is not None and event not in self._invalidate_on:
            raise UsageError(f"{event!r} is none of the events of invalidate_on: {', '.join(self._invalidate_on)}")
        return self._memory.forget(tool=tool)

    async def _findings(
        self, tool: str, asked: Sequence[ServerValidator], arguments: object, context: Mapping[str, object]
    ) -> Sequence[Findings]:
        """What each validator found, from memory if it is still good. Failures are not remembered."""
        if not asked:
            return ()
        generation = self._memory.generation
        keys = [self._key(tool, validator, arguments, context) for validator in asked]
        known = [None if key is None else self._memory.recall(key) for key in keys]
        running = [
            validator.run(arguments, context)
            for validator, found in zip(asked, known, strict=True)
            if not isinstance(found, Findings)
        ]
        fresh = iter(await asyncio.gather(*running))
        findings: list[Findings] = []
        for key, found in zip(keys, known, strict=True):
            finding = found if isinstance(found, Findings) else next(fresh)
            if key is not None and found is None and not finding.failed:
                self._memory.keep(key, finding, generation)
            findings.append(finding)
        return findings

    def _key(
        self, tool: str, validator: ServerValidator, arguments: object, context: Mapping[str, object]
    ) -> Question | None:
        """Under what the findings are remembered, None for not at all."""
        if not self._remembers:
            return None
        return question(tool, id(validator), arguments, dict(context) if validator.takes_context else None)

    def _all(self) -> Iterable[ServerValidator]:
        return (validator for validators in self._validators.values() for validator in validators)


def _unchecked(level: Level) -> Message:
    return Message(f"This server checks nothing at the level '{level}'.", "warn")

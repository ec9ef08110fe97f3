"""`ToolValidation`: what a server validates, and how it announces that."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Final, Literal, TypeVar

import msgspec

from toolvet.agents.integrations.validation.validator import CheckFunction, FailurePolicy, Findings, ServerValidator
from toolvet.core.checks import (
    DEFAULT_METHOD,
    EXPERIMENTAL_KEY,
    EXTENSION_ID,
    LEVELS,
    PROTOCOL_VERSION,
    Announcement,
    ArgumentReport,
    Cache,
    Caching,
    Correction,
    Level,
    Message,
    ValidationReply,
    check_arguments,
    input_schema,
    json_key,
    output_schema,
)
from toolvet.core.json_value import is_object, pointer_steps, type_name
from toolvet.core.schema import Repair
from toolvet.errors import UsageError


class CallJudgement(msgspec.Struct, frozen=True, kw_only=True):
    """The report of the schema check, with the messages and corrections of the validators."""

    tool: str
    arguments: object
    report: ArgumentReport
    messages: tuple[Message, ...] = ()
    corrections: tuple[Correction, ...] = ()

    @property
    def valid(self) -> bool:
        """Whether the call may be made."""
        return self.report.valid and not any(message.severity == "error" for message in self.messages)

    @property
    def reply(self) -> ValidationReply:
        """The judgement as a reply of the validation protocol."""
        if self.report.valid:
            return ValidationReply(valid=self.valid, messages=self.messages, corrections=self.corrections)
        repair = self.report.repair if isinstance(self.report.repair, Repair) else None
        problems = tuple(
            Message(f"{issue.field}: {issue.problem}. {issue.fix}", "error", issue.pointer)
            for issue in self.report.issues
        )
        advice = (*(repair.steps if repair is not None else ()), *self.report.suggestions)
        messages = (*problems, *(Message(text, "info") for text in advice))
        steps = repair.patch if repair is not None else ()
        if not all(step.get("op") in ("add", "replace") for step in steps):
            # It also moves or removes a member, and half a repair is not one.
            steps = ()
        corrections = tuple(Correction(str(step["path"]), step["value"]) for step in steps)
        return ValidationReply(valid=False, messages=messages, corrections=corrections)

    def with_findings(self, messages: tuple[Message, ...], corrections: tuple[Correction, ...]) -> "CallJudgement":
        """A copy with the findings of validators added."""
        return msgspec.structs.replace(
            self, messages=(*self.messages, *messages), corrections=(*self.corrections, *corrections)
        )

    def to_text(self) -> str:
        """Why the call is refused and what to do, for a model that sees only this text."""
        if not self.report.valid:
            return self.report.to_text()
        errors = [message for message in self.messages if message.severity == "error"]
        lines = [f"❌ Tool '{self.tool}' cannot be called with these arguments. {len(errors)} problem(s) found."]
        lines += ["", "## Issues Found:", ""]
        for number, message in enumerate(errors, 1):
            lines.append(f"{number}. {self._with_field(message)}")
            lines += [
                f"   - Fix: Use {_json(correction.value)}."
                for correction in self.corrections
                if message.path and correction.path == message.path
            ]
        others = [message for message in self.messages if message.severity != "error"]
        if others:
            lines += ["", "## Suggestions:", ""]
            lines += [f"{number}. {self._with_field(message)}" for number, message in enumerate(others, 1)]
        return "\n".join(lines)

    def to_result(self, era: Literal["legacy", "modern"]) -> dict[str, object]:
        """A tool result with `isError: true` (SEP-1303): the text for the model, and the JSON form in `_meta`."""
        if not self.report.valid:
            return dict(self.report.to_result(era))
        result: dict[str, object] = {
            "content": [{"type": "text", "text": self.to_text()}],
            "isError": True,
            "_meta": {EXTENSION_ID: self.reply.to_dict()},
        }
        return {**result, "resultType": "complete"} if era == "modern" else result

    def _with_field(self, message: Message) -> str:
        if not message.path:
            return message.message
        field = ".".join(pointer_steps("/" + message.path.removeprefix("/")))
        return f"**{field}**: {message.message}"


def judge_by_schema(tool: Mapping[str, object], arguments: object) -> CallJudgement:
    """Judge the arguments by the schema of the tool; a part of it that could not be checked is a warning."""
    name = str(tool.get("name", ""))
    report = check_arguments(tool, arguments, unchecked="pass")
    messages: list[Message] = []
    if report.valid and not is_object(arguments):
        # JSON text, or any value for a tool without a schema: a call must carry an object (CallToolRequest).
        messages.append(Message(f"The arguments of '{name}' must be an object, not {type_name(arguments)}."))
    if report.unchecked:
        messages.append(Message(f"The arguments of '{name}' were not checked: {report.unchecked}.", "warn"))
    return CallJudgement(tool=name, arguments=arguments, report=report, messages=tuple(messages))


def _json(value: object) -> str:
    try:
        return msgspec.json.encode(value).decode()
    except (TypeError, ValueError, RecursionError, msgspec.EncodeError):
        return repr(value)


OnStep = Callable[[int, int, str], Awaitable[None]]
"""An async function that gets the steps that are done, their total, and what the last one found."""

_LOG: Final = logging.getLogger("toolvet.validation")
_Check = TypeVar("_Check", bound=CheckFunction)


class ToolValidation:
    """The validators of a server, and how it announces them.

    Args:
        version: the announced version of the validation protocol.
        method: the name of the tool that clients call to validate.
        levels: the announced levels; None for those that a validator checks.
        max_batch_size: the largest number of calls in one request; 1 means no batches.
        ttl: for how many seconds the findings of validators are kept; None for no limit. Without `ttl` and
            `invalidate_on` nothing is kept, and the validators run every time.
        invalidate_on: names of your own for the events that make kept findings invalid (see `invalidate`).
        timeout: the limit for each validator, in seconds.
        streaming: whether clients that ask for progress get what each validator found as soon as it is done.
        on_failure: what a validator that raises, hangs or returns nonsense means for the call: "error" refuses it,
            "warn" lets it pass with a warning. A validator may have its own.
        clock: the seconds that `ttl` counts.

    Raises:
        UsageError: for options that make no sense.

    Example:
        >>> validation = ToolValidation()
        >>> @validation.validator("book_flight")
        ... def departs_after_arrival(arguments):
        ...     if arguments["from"] == arguments["to"]:
        ...         return "The flight must lead to another airport."
        >>> validation.levels
        ('syntax', 'semantic')
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
        streaming: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        unknown = sorted({*(levels or ())} - {*LEVELS})
        if unknown:
            raise UsageError(f"levels: {', '.join(unknown)} is not one of {', '.join(LEVELS)}")
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
        self.streaming = streaming
        self._on_failure: FailurePolicy = on_failure
        self._keeps_findings = ttl is not None or bool(invalidate_on)
        self._cache = Cache[tuple[str, str], Findings](ttl, clock)
        self._validators: dict[str, list[ServerValidator]] = {}

    def validator(
        self,
        tool: str,
        *,
        level: Level = "semantic",
        timeout: float | None = None,
        on_failure: FailurePolicy | None = None,
    ) -> Callable[[_Check], _Check]:
        """A decorator that registers a function, sync or async, which checks the calls that the tool's schema allows.

        The function receives a copy of the arguments, and as an optional second parameter the context: a mapping with
        `tool`, `purpose` ("call" or "validate") and, for "validate", what the client sent, which must not be trusted.
        It returns None for a valid call, else a sentence, a `Problem`, or a list of these.

        Args:
            tool: the name of the tool.
            level: how deep the function looks: "syntax", "semantic", "runtime" or "security".
            timeout: its limit in seconds; by default that of the ToolValidation.
            on_failure: "error" or "warn"; by default that of the ToolValidation.

        Raises:
            UsageError: for an unknown level, or one that is not among the announced `levels`.
        """
        if level not in LEVELS or (self._levels is not None and level not in self._levels):
            raise UsageError(f"level: {level!r} is not one of {', '.join(self._levels or LEVELS)}")

        def register(check: _Check) -> _Check:
            limit = self._timeout if timeout is None else timeout
            policy = on_failure or self._on_failure
            self._validators.setdefault(tool, []).append(
                ServerValidator(check, level=level, timeout=limit, on_failure=policy)
            )
            self._forget(tool)
            return check

        return register

    @property
    def levels(self) -> tuple[Level, ...]:
        """The announced levels, or else those that are checked: the syntax always, by the tool's schema."""
        if self._levels is not None:
            return self._levels
        used = {"syntax", *(validator.level for validator in self._all())}
        found: list[Level] = [level for level in LEVELS if level in used]
        return tuple(found)

    @property
    def announcement(self) -> Announcement:
        """The server's announcement. Validators that are added later change it, so read it when it is sent."""
        return Announcement(
            method=self.method,
            version=self._version,
            levels=self.levels,
            asynchronous=any(validator.is_async for validator in self._all()),
            streaming=self.streaming,
            context_aware=any(validator.takes_context for validator in self._all()),
            cacheable=self._keeps_findings,
            caching=Caching(enabled=True, ttl=self._ttl, invalidate_on=self._invalidate_on)
            if self._keeps_findings
            else None,
            batch_validation=self.max_batch_size > 1,
            max_batch_size=self.max_batch_size if self.max_batch_size > 1 else None,
        )

    def announced_in(self, capabilities: Mapping[str, object], era: Literal["legacy", "modern"]) -> dict[str, object]:
        """A copy of `capabilities` with the announcement: in `experimental`, and for "modern" also in `extensions`."""
        options = self.announcement.to_dict()
        homes = [("experimental", EXPERIMENTAL_KEY)]
        if era == "modern":
            homes.append(("extensions", EXTENSION_ID))
        announced = dict(capabilities)
        for home, key in homes:
            present = announced.get(home)
            announced[home] = {**(present if isinstance(present, Mapping) else {}), key: options}
        return announced

    def definition(self) -> dict[str, object]:
        """The tool that clients call, as `tools/list` lists it."""
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
        on_progress: OnStep | None = None,
    ) -> CallJudgement:
        """Check one call. Raises nothing, whatever the arguments are.

        The validators run concurrently, and not at all if the schema refuses the arguments: they may rely on it.

        Args:
            tool: the definition of the tool.
            arguments: any value.
            levels: only validators of these levels; None for all.
            context: what a client sent for the validators; not to be trusted.
            purpose: "call" for a call that will be made, "validate" for a question about one.
            on_progress: gets how many of the steps (the schema, then each validator) are done, how many there are,
                and what the last one found.

        Returns:
            The judgement: whether the call may be made, and all messages and corrections.
        """
        found = judge_by_schema(tool, arguments)
        if not found.valid:
            await _tell(on_progress, 1, 1, "the schema refuses the arguments")
            return found
        wanted = LEVELS if levels is None else tuple(levels)
        chosen = [each for each in self._validators.get(found.tool, ()) if each.level in wanted]
        given = {**(context or {}), "tool": found.tool, "purpose": purpose}
        steps = ProgressSteps(on_progress, 1 + len(chosen))
        await steps.done("the schema allows the arguments")
        findings = await self._run(found.tool, chosen, arguments, given, steps)
        messages = [message for finding in findings for message in finding.messages]
        if levels is not None:
            messages += [
                Message(f"This server checks nothing at the level '{level}'.", "warn")
                for level in LEVELS
                if level in wanted and level not in self.levels
            ]
        corrections = tuple(correction for finding in findings for correction in finding.corrections)
        return found.with_findings(tuple(messages), corrections)

    def invalidate(self, event: str | None = None, *, tool: str | None = None) -> int:
        """Drop the kept findings of validators.

        Args:
            event: the event that happened; it must be one of `invalidate_on`, because a misspelt event would leave
                stale findings in use.
            tool: only the findings about this tool; None for all tools.

        Returns:
            How many findings were dropped.

        Raises:
            UsageError: for an `event` that is not one of `invalidate_on`.
        """
        if event is not None and event not in self._invalidate_on:
            raise UsageError(f"{event!r} is not one of the events of invalidate_on: {', '.join(self._invalidate_on)}")
        return self._forget(tool)

    def _forget(self, tool: str | None) -> int:
        return self._cache.clear(None if tool is None else lambda key: key[0] == tool)

    async def _run(
        self,
        tool: str,
        validators: Sequence[ServerValidator],
        arguments: object,
        context: Mapping[str, object],
        steps: "ProgressSteps",
    ) -> Sequence[Findings]:
        if not validators:
            return ()
        generation = self._cache.generation
        # None for findings that are not kept.
        keys: list[tuple[str, str] | None] = []
        for validator in validators:
            question: str | None = None
            if self._keeps_findings:
                question = json_key(id(validator), arguments, dict(context) if validator.takes_context else None)
            keys.append(None if question is None else (tool, question))
        known = [None if key is None else self._cache.get(key) for key in keys]
        running = [
            steps.after(validator, validator.run(arguments, context))
            for validator, found in zip(validators, known, strict=True)
            if found is None
        ]
        for validator, found in zip(validators, known, strict=True):
            if found is not None:
                await steps.found(validator, found)
        fresh = iter(await asyncio.gather(*running))
        findings: list[Findings] = []
        for key, found in zip(keys, known, strict=True):
            finding = next(fresh) if found is None else found
            if key is not None and found is None and not finding.failed:
                self._cache.keep(key, finding, generation)
            findings.append(finding)
        return findings

    def _all(self) -> Iterable[ServerValidator]:
        return (validator for validators in self._validators.values() for validator in validators)


class ProgressSteps:
    """Counts the steps of one judgement, and reports each."""

    def __init__(self, on_progress: OnStep | None, total: int) -> None:
        self._on_progress = on_progress
        self._total = total
        self._done = 0

    async def done(self, message: str) -> None:
        """One more step is done."""
        self._done += 1
        await _tell(self._on_progress, self._done, self._total, message)

    async def found(self, validator: ServerValidator, finding: Findings) -> None:
        """One more validator is done, with these findings."""
        said = " ".join(message.message for message in finding.messages)
        await self.done(said or f"'{validator.name}' found nothing")

    async def after(self, validator: ServerValidator, running: Awaitable[Findings]) -> Findings:
        """Return what a validator finds, and report it as soon as it is known."""
        finding = await running
        await self.found(validator, finding)
        return finding


async def _tell(on_progress: OnStep | None, done: int, total: int, message: str) -> None:
    if on_progress is None:
        return
    try:
        await on_progress(done, total, message)
    except Exception:  # noqa: BLE001 - a client that is gone must not decide whether a call is valid.
        _LOG.exception("the progress of a validation could not be reported")

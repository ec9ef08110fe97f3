"""One check of a server author, run so that it cannot harm the server when it raises, hangs or returns nonsense.

For example, a check that is called with `{"flight": "TV 1"}` and returns "No seats are left.":

    copy the arguments → run the check (async: here; sync: in a thread of its own) for at most `timeout` seconds
    → its answer, or how it failed → Findings with one message of the severity "error"

A check that raises, hangs or returns a number gives Findings with `failed`, whose one message says so; `on_failure` is
its severity.
"""

import asyncio
import copy
import inspect
import logging
import threading
from collections.abc import Awaitable, Callable, Mapping
from contextvars import copy_context
from typing import Final, Literal, cast

import msgspec

from toolvet.core.checks import SEVERITIES, Correction, Level, Message, MessageSeverity

CheckFunction = Callable[..., object]
"""`(arguments)` or `(arguments, context)`, sync or async; returns None, a sentence, a Problem, or a list of these."""
FailurePolicy = Literal["error", "warn"]
"""How a failing validator affects the call: it is refused, or it passes with a warning."""

_LOG: Final = logging.getLogger("toolvet.validation")
# The largest number of hanging threads of one validator: more of them would pile up until the server dies.
_MOST_STUCK: Final = 8


class Problem(msgspec.Struct, frozen=True):
    """A problem that a validator found with a call.

    `message` is a sentence for the caller, `path` a JSON Pointer into the arguments, "" for the whole call. With the
    severity "warn" or "info" the call may be made. A `correction` is a value that would be valid at `path`.

    Example:
        >>> Problem("No seats are left in this class.", "/class", correction="business").severity
        'error'
    """

    message: str
    path: str = ""
    severity: MessageSeverity = "error"
    correction: object = msgspec.UNSET


class Findings(msgspec.Struct, frozen=True):
    """The findings of one validator. With `failed` the validator itself failed, and the messages say so."""

    messages: tuple[Message, ...] = ()
    corrections: tuple[Correction, ...] = ()
    failed: bool = False


class ServerValidator:
    """A check with a name, a level and a limit of `timeout` seconds.

    A sync check runs in a thread of its own, so that the server is not blocked. A thread cannot be stopped: after
    `timeout` it is abandoned, and it does not keep the process from ending.
    """

    def __init__(self, check: CheckFunction, *, level: Level, timeout: float, on_failure: FailurePolicy) -> None:
        self.name = getattr(check, "__name__", type(check).__name__)
        self.level: Level = level
        try:
            kinds = [each.kind for each in inspect.signature(check).parameters.values()]
        except (TypeError, ValueError):
            # Nothing is known of its parameters.
            kinds = [inspect.Parameter.VAR_POSITIONAL]
        positional = {inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD}
        # A second positional parameter is for the context.
        self.takes_context = inspect.Parameter.VAR_POSITIONAL in kinds or sum(kind in positional for kind in kinds) > 1
        self.is_async = inspect.iscoroutinefunction(check)
        self._check = check
        self._timeout = timeout
        self._on_failure: FailurePolicy = on_failure
        self._stuck = 0

    async def run(self, arguments: object, context: Mapping[str, object]) -> Findings:
        """The findings of the check. Raises only asyncio.CancelledError, when the caller is cancelled."""
        if self._stuck >= _MOST_STUCK:
            return self._failure(f"still hangs in {self._stuck} earlier calls")
        task = asyncio.ensure_future(self._call(arguments, context))
        try:
            # Not wait_for: it would wait for ever for a check that suppresses its cancellation.
            await asyncio.wait((task,), timeout=self._timeout)
        finally:
            task.cancel()
        if not task.done():
            return self._failure(f"did not answer within {self._timeout:g} s")
        if task.cancelled():
            return self._failure("cancelled itself")
        answer = task.result()
        if isinstance(answer, _Raised):
            # The text of a foreign exception may hold secrets: it goes to the log of the server, not to the client.
            _LOG.error("validator %s raised", self.name, exc_info=answer.problem)
            return self._failure(f"raised {type(answer.problem).__name__}")
        found = _read_answer(answer)
        return self._failure(f"returned {found}") if isinstance(found, str) else found

    async def _call(self, arguments: object, context: Mapping[str, object]) -> object:
        """The return value of the check, or its exception as a value: it must not reach the event loop."""
        try:
            # A copy: a check that edits its argument must not change the call.
            given = (copy.deepcopy(arguments), context)[: 1 + self.takes_context]
            answer = self._check(*given) if self.is_async else await self._in_thread(given)
            return await cast("Awaitable[object]", answer) if inspect.isawaitable(answer) else answer
        except (Exception, SystemExit) as problem:  # noqa: BLE001 - sys.exit() in a check must not end the server.
            return _Raised(problem)

    async def _in_thread(self, given: tuple[object, ...]) -> object:
        loop = asyncio.get_running_loop()
        done: asyncio.Future[object] = loop.create_future()
        inside = copy_context()

        def work() -> None:
            try:
                answer = inside.run(self._check, *given)
            except BaseException as problem:  # noqa: BLE001 - whatever it is, `done` must be set.
                answer = _Raised(problem)
            try:
                loop.call_soon_threadsafe(set_answer, answer)
            except RuntimeError:
                return  # The loop is closed, and with it the waiting task.

        def set_answer(answer: object) -> None:
            if done.cancelled():
                self._stuck -= 1
            else:
                done.set_result(answer)

        # A daemon thread, not a pool: a hanging check would occupy the pool, and keep the process alive.
        threading.Thread(target=work, name=f"toolvet-{self.name}", daemon=True).start()
        try:
            return await done
        except asyncio.CancelledError:
            self._stuck += 1
            raise

    def _failure(self, fault: str) -> Findings:
        text = f"The check '{self.name}' {fault}, so these arguments could not be validated. Trying again may help."
        _LOG.warning("%s", text)
        return Findings((Message(text, self._on_failure),), failed=True)


class _Raised(msgspec.Struct, frozen=True):
    problem: BaseException


def _read_answer(answer: object) -> Findings | str:
    if answer is None:
        return Findings()
    answers = cast("list[object]", answer) if isinstance(answer, list | tuple) else [answer]
    messages: list[Message] = []
    corrections: list[Correction] = []
    for item in answers:
        problem = Problem(item) if isinstance(item, str) else item
        # A struct does not check the types of its parts when it is built.
        if (
            not isinstance(problem, Problem)
            or not all(isinstance(part, str) for part in cast("list[object]", [problem.message, problem.path]))
            or not problem.message.strip()
            or problem.severity not in SEVERITIES
        ):
            if isinstance(item, str):
                what = "an empty text"
            else:
                what = str(item) if isinstance(item, bool) else f"an unusable {type(item).__name__}"
            return f"{what} instead of None, a sentence, a Problem or a list of these"
        messages.append(Message(problem.message, problem.severity, problem.path))
        if problem.correction is not msgspec.UNSET:
            corrections.append(Correction(problem.path, problem.correction))
    return Findings(tuple(messages), tuple(corrections))

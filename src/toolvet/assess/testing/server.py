"""One server under test: assessed, called and compared, by plain functions that raise AssertionError.

Its tool definitions are compared with a snapshot, in lines that a person reads in a failed test.
"""

import asyncio
import json
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeVar

from msgspec import structs

from toolvet.assess import Options, Report, assess
from toolvet.assess.report.gate import fails, why_failed
from toolvet.core.checks import ResultVerdict, check_result
from toolvet.core.json_value import elements, is_array, is_object, members
from toolvet.errors import UnreachableError, UsageError
from toolvet.mcp.transport import Answer, RpcError, Target, describe_reply, open_session

T = TypeVar("T")
_MOST_FINDINGS: Final = 20
_MOST_LINES: Final = 40
_LONGEST: Final = 120


class JudgedCall(NamedTuple):
    """One call of a tool: the `result` as it was sent, or the JSON-RPC error object, and the `verdict` on it."""

    result: Any
    verdict: ResultVerdict

    @property
    def text(self) -> str:
        """The text blocks of the result as one text."""
        blocks = elements(members(self.result).get("content"))
        return "\n".join(str(members(block).get("text", "")) for block in blocks)


class ServerUnderTest:
    """A server that tests ask. It is started for each assessment and each call, and ended afterwards.

    All methods block, also in tests with an event loop of their own.

    Args:
        target: The command to start, or the URL.
        options: The calls that an assessment may make, with which arguments, and how long.
    """

    def __init__(self, target: Target, options: Options | None = None) -> None:
        self.target = target
        self.options = options if options is not None else Options()
        self._reports: dict[str, Report] = {}
        self._definitions: list[Any] | None = None

    def assess(self, **changes: Any) -> Report:
        """Assess the server, as `toolvet assess` does. The same assessment is made once.

        Args:
            **changes: Fields of `toolvet.assess.Options` that differ from the settings, such as `tools=["get_*"]`.

        Raises:
            toolvet.UnreachableError: No session could be opened.
        """
        options = replace(self.options, **changes)
        key = repr(options)
        if key not in self._reports:
            self._reports[key] = _blocking(lambda: assess(self.target, options))
        return self._reports[key]

    def assert_assessment(
        self,
        *,
        score: float | None = None,
        fail_on: Literal["error", "warning", "info", "never"] = "error",
        **changes: Any,
    ) -> Report:
        """Assert that the server is as good as that, and return the report.

        Args:
            score: The lowest score (0 to 100) that passes; None: any.
            fail_on: Findings of this severity or above fail.
            **changes: As in `assess`.

        Raises:
            AssertionError: It says which findings fail, with the check's id, and how to make each call again.
        """
        __tracebackhide__ = True
        report = structs.replace(self.assess(**changes), fail_on=fail_on, fail_under=score)
        reasons = why_failed(report)
        if report.incomplete:
            reasons = (*reasons, f"the assessment is incomplete: {report.incomplete}")
        if not reasons:
            return report
        # A score that is too low has its reasons in findings that are not severe enough to fail by themselves.
        failing = [finding for finding in report.findings if fails(report, finding)] or list(report.findings)
        shown = "no score" if report.score is None else f"score {report.score:g}"
        lines = [f"{report.server.name or report.server.command}: {shown}", *(f"  {reason}" for reason in reasons), ""]
        for finding in failing[:_MOST_FINDINGS]:
            whose = f"{finding.tool}: " if finding.tool else ""
            lines.append(f"{finding.severity.value} {finding.id}  {whose}{finding.message}")
            if finding.reproduce:
                lines.append(f"    again: {finding.reproduce}")
        if len(failing) > _MOST_FINDINGS:
            lines.append(f"… and {len(failing) - _MOST_FINDINGS} more")
        if failing:
            lines.append("What a check means: toolvet explain CHECK")
        raise AssertionError("\n".join(lines).rstrip())

    def call(self, tool: str, arguments: Mapping[str, object] | None = None) -> JudgedCall:
        """Call a tool once, and judge what came back.

        Raises:
            toolvet.UnreachableError: No session could be opened, or the server did not answer.
            toolvet.UsageError: The server has no such tool.
        """
        return _blocking(lambda: self._call(tool, arguments or {}))

    def definitions(self) -> list[Any]:
        """Return all entries of `tools/list`. The list is read once."""
        if self._definitions is None:
            self._definitions = _blocking(self._list)
        return self._definitions

    def assert_definitions(self, snapshot: Path, *, update: bool = False) -> None:
        """Assert that the tools are defined as the snapshot says.

        Args:
            snapshot: A JSON file, as `update` writes it.
            update: Write it instead.

        Raises:
            AssertionError: It says what differs, tool by tool; or that there is no snapshot.
        """
        __tracebackhide__ = True
        now = written(self.definitions())
        if update:
            snapshot.parent.mkdir(parents=True, exist_ok=True)
            snapshot.write_text(now, encoding="utf-8")
            return
        if not snapshot.exists():
            raise AssertionError(f"There is no snapshot {snapshot}. Write it: pytest --toolvet-update, and commit it.")
        try:
            before = json.loads(snapshot.read_text(encoding="utf-8"))
        except ValueError as error:
            raise AssertionError(f"{snapshot} is not JSON: {error}. Write it again: pytest --toolvet-update") from error
        found = differences(before, json.loads(now))
        if found:
            lines = "\n".join(f"  {line}" for line in found)
            raise AssertionError(
                f"The tools are not defined as in {snapshot.name}:\n{lines}\nIf that is meant: pytest --toolvet-update"
            )

    async def _call(self, tool: str, arguments: Mapping[str, object]) -> JudgedCall:
        async with self._session() as session:
            known = {members(each).get("name"): each for each in (await session.list_tools()).tools}
            if tool not in known:
                names = ", ".join(sorted(str(name) for name in known)) or "none"
                raise UsageError(f"The server has no tool '{tool}'; it has: {names}")
            reply = await session.call_tool(tool, arguments, timeout=self.options.timeout)
        if isinstance(reply, Answer):
            result: Any = reply.result
        elif isinstance(reply, RpcError):
            result = {"code": reply.code, "message": reply.message}
        else:
            raise UnreachableError(f"{tool}: {describe_reply(reply)}")
        return JudgedCall(result, check_result(known[tool], arguments, result, shape="mcp"))

    async def _list(self) -> list[Any]:
        async with self._session() as session:
            return list((await session.list_tools()).tools)

    def _session(self) -> Any:
        return open_session(self.target, era=self.options.era, timeout=self.options.timeout)


def _blocking(made: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine to its end. In a thread: the test may have an event loop of its own."""
    with ThreadPoolExecutor(1, thread_name_prefix="toolvet") as thread:
        return thread.submit(lambda: asyncio.run(made())).result()


def written(tools: Sequence[object]) -> str:
    """Return the definitions as the text of a snapshot: JSON, the tools by their names, without `_meta`."""
    listed = [{key: value for key, value in members(tool).items() if key != "_meta"} for tool in tools]
    listed.sort(key=lambda tool: str(tool.get("name", "")))
    return json.dumps({"tools": listed}, indent=2, ensure_ascii=False, sort_keys=True) + "\n"


def differences(before: object, after: object) -> tuple[str, ...]:
    """Return a line for each difference between two snapshots, which are given as JSON values.

    >>> old = {"tools": [{"name": "find", "description": "Find"}, {"name": "add"}]}
    >>> new = {"tools": [{"name": "find", "description": "Search"}]}
    >>> differences(old, new)
    ('- add: the tool is gone', '~ find /description: "Find" → "Search"')
    """
    old, new = _by_name(before), _by_name(after)
    lines = [f"- {name}: the tool is gone" for name in old if name not in new]
    lines += [f"+ {name}: the tool is new" for name in new if name not in old]
    for name, tool in old.items():
        if name in new:
            lines += [f"~ {name} {change}" for change in _changes(tool, new[name], "")]
    if len(lines) > _MOST_LINES:
        return (*lines[:_MOST_LINES], f"… and {len(lines) - _MOST_LINES} more differences")
    return tuple(lines)


def _by_name(snapshot: object) -> dict[str, object]:
    tools = members(snapshot).get("tools")
    return {str(members(tool).get("name", "")): tool for tool in tools} if is_array(tools) else {}


def _changes(before: object, after: object, pointer: str) -> Iterator[str]:
    if is_object(before) and is_object(after):
        for key in sorted({*before, *after}):
            place = f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}"
            if key not in after:
                yield f"{place}: {_short(before[key])} is gone"
            elif key not in before:
                yield f"{place}: {_short(after[key])} is new"
            else:
                yield from _changes(before[key], after[key], place)
    elif is_array(before) and is_array(after) and len(before) == len(after):
        for number, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from _changes(old, new, f"{pointer}/{number}")
    # `true == 1` in Python, and not in JSON.
    elif json.dumps(before, sort_keys=True) != json.dumps(after, sort_keys=True):
        yield f"{pointer or '/'}: {_short(before)} → {_short(after)}"


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, sort_keys=True)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"

"""`build`: a job → its kernel, with the settings, options and tool definitions of the job; `read_tools` reads these."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

import orjson

from toolvet.batch.chunk import READ_PROBLEM
from toolvet.batch.job import Job, Kernel
from toolvet.batch.kernel.columns import PROBLEM
from toolvet.core.json_value import elements, is_array, is_object, members
from toolvet.core.settings import Settings
from toolvet.core.tools import read_tool
from toolvet.core.turn import SHORTEST, AnswerCheck, AnswerOptions, ConversationCheck
from toolvet.errors import ToolShapeError, UsageError

_DECLARATIONS = ("functionDeclarations", "function_declarations")


def build(job: Job, columns: Mapping[str, str]) -> Kernel:
    """Return the kernel of a job. Raises UsageError for settings or options that cannot be used."""
    settings = Settings(job.checks)
    names = {**columns, PROBLEM: READ_PROBLEM}
    # Each kind loads its own checks, and no others.
    if job.kind == "answers":
        from toolvet.batch.kernel.answers import AnswersKernel  # noqa: PLC0415

        return AnswersKernel(AnswerCheck(**_options(settings, job)), names)
    if job.kind == "results":
        from toolvet.batch.kernel.results import ResultsKernel  # noqa: PLC0415

        return ResultsKernel(settings.result_check(), names)
    if job.kind == "arguments":
        from toolvet.batch.kernel.arguments import ArgumentsKernel  # noqa: PLC0415

        return ArgumentsKernel(settings.argument_check(), job.tools or {}, names)
    if job.kind == "envelopes":
        from toolvet.batch.kernel.envelopes import EnvelopesKernel  # noqa: PLC0415

        return EnvelopesKernel(names)
    from toolvet.batch.kernel.conversations import ConversationsKernel  # noqa: PLC0415

    options = _options(settings, job)
    options.setdefault("min_length", SHORTEST)
    tools = None if job.tools is None else list(job.tools.values())
    check = ConversationCheck(tools=tools, answers=AnswerCheck(**options), results=settings.result_check())
    return ConversationsKernel(check, names)


def _options(settings: Settings, job: Job) -> AnswerOptions:
    return cast("AnswerOptions", {**settings.answer_options(), **cast("dict[str, Any]", dict(job.options))})


def read_tools(file: str) -> dict[str, object]:
    """Return the tool definitions of a file by name: one, a list, or an object with a list under `tools`.

    Raises UsageError where the file cannot be read, or has no definitions.
    """
    try:
        value: object = orjson.loads(Path(file).read_bytes())
    except OSError as error:
        raise UsageError(f"--tools {file}: {error.strerror}") from error
    except orjson.JSONDecodeError as error:
        raise UsageError(f"--tools {file}: not JSON: {error}") from error
    listed = members(members(value).get("result")).get("tools", members(value).get("tools", value))
    return by_name(elements(listed) if is_array(listed) else [listed], f"--tools {file}")


def by_name(tools: Iterable[object], source: str) -> dict[str, object]:
    """Return tool definitions by name. Raises UsageError for one that is none."""
    found = [each for entry in tools for each in _declared(entry)]
    try:
        return {read_tool(each).name: each for each in found}
    except ToolShapeError as error:
        raise UsageError(f"{source}: {error}") from error


def _declared(entry: object) -> list[object]:
    """The tools of an entry: Gemini has several in one."""
    for name in _DECLARATIONS:
        declared = members(entry).get(name)
        if is_array(declared):
            return [{name: [each]} for each in declared if is_object(each)]
    return [entry]

"""`build`: a job → its kernel, with the settings, options and tool definitions that the job names."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

import orjson

from toolvet.batch.chunk import READ_PROBLEM
from toolvet.batch.job import Job, Kernel
from toolvet.batch.kernel.columns import PROBLEM
from toolvet.errors import ToolShapeError, UsageError
from toolvet.schema.json_value import elements, is_array, is_object, members
from toolvet.settings import Settings, load_settings
from toolvet.tools import read_tool
from toolvet.turn import AnswerCheck, AnswerOptions, ConversationCheck
from toolvet.turn.conversation import SHORTEST

_DECLARATIONS = ("functionDeclarations", "function_declarations")


def build(job: Job, columns: Mapping[str, str]) -> Kernel:
    """Return the kernel of a job. Raises UsageError for settings, options or tools that cannot be used."""
    settings = load_settings(job.settings_path())
    tools = None if job.tools is None else read_tools(job.tools)
    return make_kernel(job.kind, columns, settings, _options(settings, job), tools)


def make_kernel(
    kind: str,
    columns: Mapping[str, str],
    settings: Settings,
    options: AnswerOptions,
    tools: Mapping[str, object] | None,
) -> Kernel:
    """Return the kernel of a kind; `options` are those of the answer check, of `settings` the others count."""
    columns = {**columns, PROBLEM: READ_PROBLEM}
    # Each kind loads its own checks, and no others.
    if kind == "answers":
        from toolvet.batch.kernel.answers import AnswersKernel  # noqa: PLC0415

        return AnswersKernel(AnswerCheck(**options), columns)
    if kind == "results":
        from toolvet.batch.kernel.results import ResultsKernel  # noqa: PLC0415

        return ResultsKernel(settings.result_check(), columns)
    if kind == "arguments":
        from toolvet.batch.kernel.arguments import ArgumentsKernel  # noqa: PLC0415

        return ArgumentsKernel(settings.argument_check(), tools or {}, columns)
    if kind == "envelopes":
        from toolvet.batch.kernel.envelopes import EnvelopesKernel  # noqa: PLC0415

        return EnvelopesKernel(columns)
    from toolvet.batch.kernel.conversations import ConversationsKernel  # noqa: PLC0415

    answers = AnswerCheck(**cast("AnswerOptions", {"min_length": SHORTEST, **options}))
    listed = None if tools is None else list(tools.values())
    return ConversationsKernel(
        ConversationCheck(tools=listed, answers=answers, results=settings.result_check()), columns
    )


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

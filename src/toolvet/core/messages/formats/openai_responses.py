"""Items of the OpenAI Responses API, in its input, its output, and a whole response."""

from typing import Final

from toolvet.core.messages.call import UNKNOWN
from toolvet.core.messages.format import MessageFormat, Receiver, call_reader, ignored, ignored_item, said
from toolvet.core.messages.parts import Parts, blocks_of, inner, plain, text_in

# What items of tools that the API runs itself have as arguments and results, beside what says that they are done.
_ARGUMENTS: Final = ("arguments", "input", "action", "actions", "queries", "code", "operation")
_HOSTED: Final = (
    "web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call", "computer_call",
    "local_shell_call", "shell_call", "apply_patch_call", "tool_search_call",
)  # fmt: skip
_RESULTS: Final = ("output", "results", "outputs")


def _response(parts: Parts, to: Receiver) -> bool:
    if parts["object"] != "response":
        return False
    for item in blocks_of(parts.get("output")):
        to.within(item, "assistant")
    to.stopped(inner(parts.get("incomplete_details")).get("reason"))
    return True


_call = call_reader("arguments", "input", ids=("call_id", "id"))


def _output(parts: Parts, to: Receiver) -> bool:
    if not text_in(parts, "call_id"):
        return False
    failed = True if parts.get("status") == "failed" else None
    to.returned(plain(parts.get("output")), id_=text_in(parts, "call_id"), name=text_in(parts, "name"), failed=failed)
    return True


def _mcp_call(parts: Parts, to: Receiver) -> bool:
    error = parts.get("error")
    result = parts.get("output") if error is None else error
    silent = result is None and parts.get("status") != "completed"
    to.called(
        text_in(parts, "name"),
        parts.get("arguments"),
        text_in(parts, "id"),
        result=UNKNOWN if silent else result or "",
        failed=None if error is None else True,
    )
    return True


def _hosted_call(parts: Parts, to: Receiver) -> bool:
    """A tool that the API runs (`web_search_call`), or that waits for its `…_call_output` (`computer_call`)."""
    kind = text_in(parts, "type")
    arguments = next((parts[key] for key in _ARGUMENTS if parts.get(key) is not None), None)
    result = next((parts[key] for key in _RESULTS if parts.get(key) is not None), UNKNOWN)
    failed = True if parts.get("status") == "failed" else None
    if failed is None and result is UNKNOWN and not parts.get("call_id") and parts.get("status") == "completed":
        # The tool did its work, and the API does not return the result.
        failed = False
    name = text_in(parts, "name") or kind.removesuffix("_call")
    to.called(name, arguments, text_in(parts, "call_id", "id"), result=plain(result), failed=failed)
    return True


FORMAT = MessageFormat(
    name="OpenAI Responses (items)",
    types={
        "function_call": _call,
        "custom_tool_call": _call,
        "mcp_call": _mcp_call,
        **dict.fromkeys(_HOSTED, _hosted_call),
        "input_text": said,
        "output_text": said,
        "reasoning": ignored_item,
        "mcp_list_tools": ignored_item,
        "mcp_approval_request": ignored_item,
        "mcp_approval_response": ignored_item,
        "item_reference": ignored_item,
        "compaction": ignored_item,
        "input_image": ignored,
        "input_file": ignored,
    },
    endings={"_call_output": _output},
    members={"object": _response},
)

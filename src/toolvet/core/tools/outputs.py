"""Results of the draft SEP-3279 (`outputs`, one for each audience) as the `content` and `structuredContent` of today.

Built on the revision of 2026-08-19 (e63642f):

content             the output of `assistant`, else of `user`, in the format `content`; else the structured one as text
structuredContent   the output of `programmatic`, else of `assistant`, `user`, an extension, in the format `structured`
outputSchema        the schema of the variant of that audience in the tool's `outputVariants`
"""

from collections.abc import Mapping
from typing import Final, TypeGuard

import msgspec
from msgspec.structs import replace

from toolvet.core.json_value import elements, is_array, is_object, members
from toolvet.core.tools.view import ToolView

_READERS: Final = {"content": ("assistant", "user"), "structured": ("programmatic", "assistant", "user")}
_MOST: Final = 100


def has_outputs(result: object) -> TypeGuard[Mapping[str, object]]:
    """Whether this is a result of the draft: with `outputs`, each with an audience and a format, and no `content`."""
    if not is_object(result) or "content" in result or "structuredContent" in result:
        return False
    outputs = result.get("outputs")
    return is_array(outputs) and all(
        is_object(each) and isinstance(each.get("audience"), str) and isinstance(each.get("format"), str)
        for each in outputs
    )


def read_outputs(view: ToolView, result: object) -> tuple[ToolView, object]:
    """Return the tool and the result as they would be today; both unchanged if the result has no `outputs`.

    Without a structured output the tool promises nothing: a client asks for the outputs that it wants.

    Example:
        >>> outputs = [{"audience": "programmatic", "format": "structured", "structuredContent": {"rows": 3}}]
        >>> read_outputs(ToolView("count", "", {}, None), {"outputs": outputs})[1]
        {'structuredContent': {'rows': 3}, 'content': [{'type': 'text', 'text': '{"rows":3}'}]}
    """
    if not has_outputs(result):
        return view, result
    plain = {name: value for name, value in result.items() if name != "outputs"}
    content, structured = (_chosen(result, of) for of in ("content", "structured"))
    schema: object = None
    if structured is not None and "structuredContent" in structured:
        plain["structuredContent"] = structured["structuredContent"]
        schema = _schema_for(view, structured.get("audience"))
    if content is not None:
        plain["content"] = content.get("content")
    else:
        # As servers write it today. The draft forbids a copy that was not requested.
        plain["content"] = _mirror(plain["structuredContent"]) if "structuredContent" in plain else []
    return replace(view, output_schema=schema), plain


def _mirror(value: object) -> list[object]:
    try:
        return [{"type": "text", "text": msgspec.json.encode(value).decode()}]
    except (TypeError, ValueError, RecursionError, OverflowError):
        return []


def variant_schemas(variants: object) -> list[object]:
    """The schemas of a tool's `outputVariants`."""
    return [each["schema"] for each in map(members, elements(variants)[:_MOST]) if "schema" in each]


def _chosen(result: Mapping[str, object], of: str) -> Mapping[str, object] | None:
    outputs = [each for each in map(members, elements(result["outputs"])[:_MOST]) if each.get("format") == of]
    readers = _READERS[of]
    outputs.sort(key=lambda each: readers.index(found) if (found := each.get("audience")) in readers else len(readers))
    return outputs[0] if outputs else None


def _schema_for(view: ToolView, audience: object) -> object:
    declared = map(members, elements(view.output_variants)[:_MOST])
    same = (each for each in declared if (each.get("audience"), each.get("format")) == (audience, "structured"))
    return members(next(same, None)).get("schema")

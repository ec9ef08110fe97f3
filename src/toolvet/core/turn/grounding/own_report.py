"""Reports that toolvet wrote itself in place of a result: the call was refused, and nothing in them is from the tool.

A report names limits, examples and corrected values. An answer that repeats one of them repeats our words: "27 degrees"
is not borne out by a refusal that says "maximum 27".
"""

import re
from typing import Final

from toolvet.core.json_value import elements, is_object, members
from toolvet.core.meta import META_PREFIX

# The same key as `toolvet.core.checks.arguments.META_KEY`, which would load the schema engine here.
_REPORT_KEY: Final = f"{META_PREFIX}arguments"
_MEMBERS: Final = frozenset(("type", "summary", "issues", "schema", "suggestions"))
_LONGEST_LEAD: Final = 400
_HEAD: Final = re.compile(
    r"❌ Tool '[^\n]{0,200}' (?:received invalid arguments\. \d{1,6} validation err|cannot be called with these argum)"
    r"|❌ The arguments of tool '[^\n]{0,200}' were not checked\."
)


def is_own_report(response: object) -> bool:
    """Whether a result, as one of MCP, is a report of `check_arguments`, the proxy or the integrations.

    It is known by its key in `_meta`, by its heading at the start of a text, or as its JSON form.
    """
    if is_object(response):
        if _REPORT_KEY in members(response.get("_meta")):
            return True
        return _is_json_form(response.get("structuredContent")) or _is_headed(response.get("content"))
    meta = getattr(response, "meta", None)
    return _REPORT_KEY in members(meta) or _is_headed(getattr(response, "content", None))


def _is_json_form(value: object) -> bool:
    error = members(members(value).get("error"))
    return members(value).get("valid") is False and error.keys() >= _MEMBERS


def _is_headed(content: object) -> bool:
    for block in (content,) if isinstance(content, str) else elements(content)[:4]:
        text = block if isinstance(block, str) else members(block).get("text", getattr(block, "text", None))
        if isinstance(text, str) and _HEAD.search(text, 0, _LONGEST_LEAD) is not None:
            return True
    return False

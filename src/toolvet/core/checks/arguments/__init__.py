"""The arguments of a call, checked against the tool's schema: `check_arguments` returns a report.

From the report a model can fix its call. An example: the tool `create-user` with

    {"type": "object", "required": ["age"], "properties": {"age": {"type": "integer", "minimum": 18}}}

and the call `{"age": "15"}`:

    compile     schema → Schema, once for each schema (toolvet.core.schema); it refuses the call
    violations  [type at /age]
    guide       what the schema demands at each place: /age is "an integer >= 18" (guide.py); kept per schema
    issues      one for each violation: its row in wording.toml is "Expected {types}, received {received}"; the
                placeholders are filled from the guide (placeholders.py): "Expected integer, received string",
                "Provide an integer >= 18." (issue.py)
    repair      the nearest valid call that invents nothing: none here, because 15 is below the minimum (markdown.py)
    report      everything above, made when it is first read (report.py), and as Markdown for a model (markdown.py)

    >>> schema = {"type": "object", "required": ["age"], "properties": {"age": {"type": "integer", "minimum": 18}}}
    >>> report = check_arguments({"name": "create-user", "inputSchema": schema}, {"age": "15"})
    >>> print(report.to_text(max_chars=260))
    ❌ Tool 'create-user' received invalid arguments. 1 validation error(s) found.
    <BLANKLINE>
    1. **age**: Expected integer, received string. Provide an integer >= 18.
    <BLANKLINE>
    (Left out to stay within 260 characters: schema help, suggestions, valid example, parts of the issues.)
"""

from toolvet.core.checks.arguments.check import META_KEY, ArgumentCheck, ArgumentReport, check_arguments
from toolvet.core.checks.arguments.guide import PropertyHelp, SchemaHelp
from toolvet.core.checks.arguments.issue import Issue
from toolvet.core.checks.arguments.repairing import JsonRepair, repair_call, repair_json
from toolvet.core.checks.arguments.wording import Wording, read_wording

__all__ = [
    "META_KEY",
    "ArgumentCheck",
    "ArgumentReport",
    "Issue",
    "JsonRepair",
    "PropertyHelp",
    "SchemaHelp",
    "Wording",
    "check_arguments",
    "read_wording",
    "repair_call",
    "repair_json",
]

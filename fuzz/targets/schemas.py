"""Examples of schemas: what is called valid is valid, what is called invalid is not."""

from fuzz.draw import Draw
from fuzz.holds import holds

from toolvet import ToolvetError, Unsatisfiable, invalid_examples, port_issues, portable, valid_example
from toolvet.core.schema import boundary_examples, compiled, unsatisfiable_parts

# Six searches for an example of at most 24,000 steps each; a step takes up to 0.1 ms under instrumentation.
ALLOWED = 15.0


def check(draw: Draw) -> None:
    """One schema and one value."""
    schema = draw.schema() if draw.byte() < 230 else draw.value()
    value = draw.json()
    ready = compiled(schema)
    violations = ready.violations(value)
    holds(ready.is_valid(value) is not bool(violations), "valid, and yet violations")
    for found in invalid_examples(schema):
        holds(not ready.is_valid(found.instance), f"an invalid example is valid: {found.keyword}")
    for found in boundary_examples(schema):
        holds(ready.is_valid(found.instance), f"a boundary example is not valid: {found.keyword}")
    for required_only in (False, True):
        try:
            example = valid_example(schema, required_only=required_only)
        except Unsatisfiable:
            holds(ready.problem is not None or not ready.is_valid(value), "a value satisfies what nothing satisfies")
        except ToolvetError:
            continue
        else:
            holds(ready.problem is not None or ready.is_valid(example), "a valid example is not valid")
            holds(repr(valid_example(schema, required_only=required_only)) == repr(example), "another example")
    unsatisfiable_parts(schema)
    tool = {"name": "f", "inputSchema": schema}
    provider = draw.one(("openai", "anthropic-strict", "gemini", "mistral"))
    try:
        port_issues(tool, provider)
        found = portable(tool, provider)
    except ToolvetError:
        return
    holds(found.proof.verdict in ("proven", "tested", "failed", "untested"), "no proof")

"""`toolvet explain`: print what a check looks for, why, and what to do."""

from typing import Annotated

from cyclopts import Parameter


def command(
    check_id: Annotated[str | None, Parameter(help="The id of a finding; without one, all checks are listed.")] = None,
    /,
    *,
    json: Annotated[bool, Parameter(negative="", help="JSON on stdout.")] = False,
) -> int:
    """Say what a check looks for, why it matters, and how to fix what it finds."""
    from toolvet.cli.commands.explain.run import explain  # noqa: PLC0415 - the rules load the schema and pattern engines

    return explain(check_id, as_json=json)

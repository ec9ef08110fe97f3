"""`toolvet check envelope`: say whether responses keep the contract response-v2."""

from typing import Annotated, Literal

from toolvet.cli.parameter import Parameter


def command(
    file: Annotated[str, Parameter(help="JSON or JSONL; `-` is stdin.")] = "-",
    /,
    *,
    json: Annotated[bool, Parameter(negative="", help="Findings as JSONL on stdout, one line per envelope.")] = False,
    fail_on: Annotated[
        Literal["error", "warning", "info", "never"],
        Parameter(help="Exit with 1 for a finding as grave as this."),
    ] = "error",
) -> int:
    """Check response envelopes (`success`, `data`, `error`, `meta`), and say how to mend them.

    Each input object is an envelope, has one under `envelope` beside an `id`, or is the result of a tool call with
    envelopes in it (as structured content, as JSON text, or under `_meta`).
    """
    from toolvet.cli.commands.check.envelope.run import check_envelopes  # noqa: PLC0415 - the heavy half, for this command only

    return check_envelopes(file, fail_on, as_json=json)

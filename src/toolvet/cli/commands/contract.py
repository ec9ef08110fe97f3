"""`toolvet contract`: an outputSchema for each tool that declares none, from what its results looked like."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolvet.assess.contracting import ToolContract


def command(
    record: Annotated[
        str,
        Parameter(
            help="A record of `toolvet record` or `toolvet proxy --record calls` (a file or a URL), or a store or a "
            "JSON report of `toolvet assess`."
        ),
    ],
    *,
    out: Annotated[
        Path | None, Parameter(help="Write a lock file with the contracts, for `toolvet proxy --lock`.")
    ] = None,
    lock: Annotated[
        Path | None, Parameter(help="The lock of the server: its tools. [default: RECORD.lock.json]")
    ] = None,
    tool: Annotated[
        list[str] | None,
        Parameter(
            negative="", help="Only this tool, also if it declares an outputSchema; prints its schema. May be repeated."
        ),
    ] = None,
    least: Annotated[int, Parameter(help="How many different good results a tool needs.")] = 10,
    json: Annotated[
        bool, Parameter(negative="", help="JSON on stdout, with the evidence for each constraint.")
    ] = False,
) -> int:
    """Propose an outputSchema for each tool that declares none, from the recorded results.

    toolvet contract record.db --out toolvet.lock.json

    toolvet proxy --lock toolvet.lock.json -- python server.py

    A constraint is proposed only if enough results kept it and none broke it. Errors do not count. Paste a schema into
    the server's code, or give the file to `toolvet proxy`, `toolvet replay` or `toolvet assess`: they report results
    that leave their contract.
    """
    import json as text  # noqa: PLC0415 - all of these are for this command only

    from msgspec import structs, to_builtins  # noqa: PLC0415

    from toolvet.assess.contracting import propose_contracts  # noqa: PLC0415
    from toolvet.assess.replay import read_recorded  # noqa: PLC0415
    from toolvet.cli.options import load_lock  # noqa: PLC0415
    from toolvet.core.contract import Lock, lock_of, write_lock  # noqa: PLC0415
    from toolvet.core.visible import escape_unseen, visible  # noqa: PLC0415
    from toolvet.errors import UsageError  # noqa: PLC0415

    if least < 1:
        raise UsageError(f"--least {least}: must be at least 1")
    calls = read_recorded(record)
    names = {call.tool for call in calls}
    if unknown := next((name for name in tool or () if name not in names), None):
        raise UsageError(f"--tool {unknown}: the record has no call of it; it has {', '.join(sorted(names))}")
    beside = lock or Path(f"{record}.lock.json")
    base = load_lock(beside) if lock is not None or beside.is_file() else Lock()
    found = propose_contracts(calls, base.tools, tool or (), least)
    if json:
        document = {"format": "toolvet-contract/1", "record": record, "tools": to_builtins(found)}
        sys.stdout.write(escape_unseen(text.dumps(document, indent=2, ensure_ascii=False)) + "\n")
    else:
        _print_table(found)
        for each in found if tool else ():
            if each.proposal is not None:
                schema = text.dumps(each.proposal.schema, indent=2, ensure_ascii=False)
                sys.stdout.write(visible(f"\n{each.tool}\n") + escape_unseen(schema) + "\n")
    if out is not None:
        contracts = [
            {"name": each.tool, "outputSchema": each.proposal.schema, "results": each.proposal.results}
            for each in found
            if each.proposal is not None
        ]
        written = structs.replace(base, contracts=lock_of(contracts=contracts).contracts)
        try:
            out.write_text(write_lock(written), encoding="utf-8")
        except OSError as error:
            raise UsageError(f"--out {out}: {error.strerror}") from error
        sys.stderr.write(f"contracts: {out}\n")
    return 0


def _print_table(found: "Sequence[ToolContract]") -> None:
    """Print a line for each tool: how many results, and how many constraints they gave."""
    from toolvet.core.visible import visible  # noqa: PLC0415 - as above

    width = max([4, *(len(visible(each.tool)) for each in found)])
    lines = [f"{'tool':<{width}}  results  left out  constraints  undecided"]
    for each in found:
        made = each.proposal
        counts = ("-", "-") if made is None else (len(made.evidence), len(made.undecided))
        says = "JSON as text: also send structuredContent" if each.is_text else each.why
        numbers = f"{each.results:>7}  {each.failed:>8}  {counts[0]:>11}  {counts[1]:>9}  {visible(says)}"
        lines.append(f"{visible(each.tool):<{width}}  {numbers}".rstrip())
    sys.stdout.write("\n".join(lines) + "\n")

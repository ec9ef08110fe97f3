"""`toolvet store send`: send verdicts to another platform as scores."""

from typing import Annotated, Literal

from cyclopts import Parameter

from toolvet.cli.commands.store.options import StoreOption
from toolvet.core.discover import module_names

_NAMES = module_names("toolvet.server.scores.destinations")


def command(
    destination: Annotated[
        str,
        Parameter(
            help=f"Where to: {', '.join(_NAMES)}; address and keys come from the environment, by the names of its SDK."
        ),
    ],
    /,
    *,
    store: StoreOption = None,
    kind: Annotated[
        Literal["call", "arguments", "result", "envelope", "answer"] | None, Parameter(help="Only these verdicts.")
    ] = None,
    server: Annotated[str | None, Parameter(help="Only those of this server.")] = None,
    since: Annotated[
        str | None, Parameter(help="Only those of the last `7d`, `12h`, …, or from `2026-11-22` on (UTC).")
    ] = None,
    dry_run: Annotated[bool, Parameter(negative="", help="Send nothing; say how many verdicts it would be.")] = False,
) -> int:
    """Send verdicts to Langfuse, Opik, Phoenix or an OpenTelemetry collector as scores, each of them once.

    What was sent is remembered in the store, so the next run sends what is new.

    toolvet store send langfuse --since 7d
    """
    from toolvet.cli.commands.store.send.run import send_store  # noqa: PLC0415 - the heavy half, for this command only

    return send_store(store, destination, kind=kind, server=server, since=since, dry_run=dry_run)

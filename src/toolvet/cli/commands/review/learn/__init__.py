"""`toolvet review learn`: learn from labels."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from toolvet.cli.commands.review.options import StoreOption


def command(
    *,
    store: StoreOption = None,
    labels: Annotated[
        tuple[Path, ...],
        Parameter(
            negative="",
            help='Files of labelled answers instead of the store\'s: lines of {"text": …, "label": "refusal" or "ok"}.',
        ),
    ] = (),
    output: Annotated[
        Path | None,
        Parameter(help="Where the model goes. [default: toolvet/answer-model.bin in the user's folder for data]"),
    ] = None,
    precision: Annotated[
        float, Parameter(help="The share of escalations that should be right, for the suggested threshold.")
    ] = 0.9,
    dry_run: Annotated[bool, Parameter(negative="", help="Write nothing; only report.")] = False,
    json: Annotated[bool, Parameter(negative="", help="JSON on stdout.")] = False,
    settings: Annotated[Path | None, Parameter(help="Settings other than toolvet.toml here.")] = None,
) -> int:
    """Retrain the learned model of answers from reviewers' labels, and suggest phrases and a threshold.

    The model is written only where it is better than the one in use on answers that were held back; exits with 1 where
    it is not. Phrases and the threshold are suggestions: nothing of them is installed.

    toolvet review learn --dry-run
    """
    from toolvet.cli.commands.review.learn.run import learn  # noqa: PLC0415 - the heavy half, for this command only

    return learn(
        store, labels, output=output, precision=precision, dry_run=dry_run, as_json=json, settings_file=settings
    )

"""`toolvet review agreement`: say how far reviewers agree."""

from toolvet.cli.commands.review.options import JsonOption, StoreOption


def command(*, store: StoreOption = None, json: JsonOption = False) -> int:
    """Print how far reviewers agree on what two or more of them saw: in percent, and Cohen's kappa."""
    from toolvet.cli.commands.review.run import print_agreement  # noqa: PLC0415 - the heavy half, for this command only

    return print_agreement(store, as_json=json)

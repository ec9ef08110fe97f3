"""Review verdicts: list the queue, take the next one, label it, and see how far reviewers agree."""

from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from cyclopts import Parameter

StoreOption: TypeAlias = Annotated[
    str | None,
    Parameter(
        env_var="TOOLVET_STORE",
        help="The SQLite file or PostgreSQL URL. [default: `store` in toolvet.toml, else toolvet.db]",
    ),
]

ReviewerOption: TypeAlias = Annotated[
    str | None,
    Parameter(env_var="TOOLVET_REVIEWER", help="Whose labels these are. [default: the user of this machine]"),
]

JsonOption: TypeAlias = Annotated[bool, Parameter(negative="", help="JSON on stdout.")]

ItemArgument: TypeAlias = Annotated[
    str, Parameter(help="The id of the item, which is that of its verdict; `mine` for the one that you have.")
]


def add(
    verdict: Annotated[str, Parameter(help="The id of the verdict.")],
    /,
    *,
    priority: Annotated[int, Parameter(help="More is sooner.")] = 0,
    reviewers: Annotated[int, Parameter(help="How many people should see it.")] = 1,
    store: StoreOption = None,
    json: JsonOption = False,
) -> int:
    """Put a verdict into the queue by hand; an item already in the queue stays as it is."""
    from toolvet.cli.commands.review.run import add_item  # noqa: PLC0415 - the heavy half, for this command only

    return add_item(store, verdict, priority=priority, reviewers=reviewers, as_json=json)


def agreement(*, store: StoreOption = None, json: JsonOption = False) -> int:
    """Print how far reviewers agree on items that two or more of them labelled: in percent, and Cohen's kappa."""
    from toolvet.cli.commands.review.run import print_agreement  # noqa: PLC0415 - the heavy half, for this command only

    return print_agreement(store, as_json=json)


def assign(
    item: ItemArgument,
    to: Annotated[str | None, Parameter(help="The reviewer; without a name, anyone may review it.")] = None,
    /,
    *,
    store: StoreOption = None,
    reviewer: ReviewerOption = None,
    json: JsonOption = False,
) -> int:
    """Assign an item to a person: `toolvet review next` then offers it only to them."""
    from toolvet.cli.commands.review.run import assign_to  # noqa: PLC0415 - the heavy half, for this command only

    return assign_to(store, reviewer, item, to, as_json=json)


def export(
    file: Annotated[Path | None, Parameter(help="Lines of JSON; without a file they go to stdout.")] = None,
    /,
    *,
    store: StoreOption = None,
    json: JsonOption = False,
) -> int:
    """Write all labels, a line of JSON for each, with the verdict and the text that it is about."""
    from toolvet.cli.commands.review.run import export_labels  # noqa: PLC0415 - the heavy half, for this command only

    return export_labels(store, file, as_json=json)


def fill(
    *,
    store: StoreOption = None,
    again: Annotated[
        bool, Parameter(negative="", help="Look at all verdicts, as after a change of the rules, not only at new ones.")
    ] = False,
    json: JsonOption = False,
) -> int:
    """Put the verdicts that match the rules into the queue. Every other command does so for new verdicts."""
    from toolvet.cli.commands.review.run import fill_queue  # noqa: PLC0415 - the heavy half, for this command only

    return fill_queue(store, again=again, as_json=json)


def label(
    item: ItemArgument,
    value: Annotated[str, Parameter(help="right, wrong or unsure; for results also the right class.")],
    /,
    *,
    signal: Annotated[
        tuple[str, ...],
        Parameter(negative="", help="Your label for one signal: `0:refusal=wrong`. Can be given several times."),
    ] = (),
    missed: Annotated[
        tuple[str, ...],
        Parameter(
            negative="",
            help="A fault that toolvet missed, with its words in the answer: `refusal=I'd rather not`.",
        ),
    ] = (),
    note: Annotated[str, Parameter(help="Your words.")] = "",
    final: Annotated[
        bool, Parameter(negative="", help="Decide a disputed item; the reviewers' labels stay as they are.")
    ] = False,
    second_opinion: Annotated[bool, Parameter(negative="", help="Ask one more reviewer.")] = False,
    store: StoreOption = None,
    reviewer: ReviewerOption = None,
    json: JsonOption = False,
) -> int:
    """Say whether a verdict is right, and which of its signals are.

    toolvet review label 019ab… wrong --signal 0:refusal=wrong --note "it quotes the user"
    """
    from toolvet.cli.commands.review.run import label_item  # noqa: PLC0415 - the heavy half, for this command only

    return label_item(
        store,
        reviewer,
        item,
        value,
        signals=signal,
        missed=missed,
        note=note,
        final=final,
        second_opinion=second_opinion,
        as_json=json,
    )


def learn(
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
        Parameter(help="Where to write the model. [default: toolvet/answer-model.bin in the user's folder for data]"),
    ] = None,
    precision: Annotated[
        float, Parameter(help="The share of escalations that should be right, for the suggested threshold.")
    ] = 0.9,
    dry_run: Annotated[bool, Parameter(negative="", help="Write nothing; only report.")] = False,
    json: Annotated[bool, Parameter(negative="", help="JSON on stdout.")] = False,
    settings: Annotated[Path | None, Parameter(help="The settings file, instead of ./toolvet.toml.")] = None,
) -> int:
    """Retrain the learned model of answers from reviewers' labels, and suggest phrases and a threshold.

    The model is written only if it beats the one in use on answers that were held back; otherwise exits with 1.
    Phrases and the threshold are suggestions: toolvet does not install them.

    toolvet review learn --dry-run
    """
    from toolvet.cli.commands.review.learning import learn  # noqa: PLC0415 - the heavy half, for this command only

    return learn(
        store, labels, output=output, precision=precision, dry_run=dry_run, as_json=json, settings_file=settings
    )


def list_(
    *,
    store: StoreOption = None,
    reviewer: ReviewerOption = None,
    state: Annotated[
        Literal["open", "done", "disputed", "all"],
        Parameter(help="Items that need reviewers, reviewed ones, those on which reviewers differ, or all."),
    ] = "open",
    kind: Annotated[
        Literal["call", "arguments", "result", "envelope", "answer"] | None, Parameter(help="Only these verdicts.")
    ] = None,
    rule: Annotated[str | None, Parameter(help="Only items of this rule.")] = None,
    mine: Annotated[bool, Parameter(negative="", help="Only items that you labelled; with `--state all`.")] = False,
    assigned: Annotated[bool, Parameter(negative="", help="Only items assigned to you.")] = False,
    limit: Annotated[int, Parameter(help="How many.")] = 20,
    json: JsonOption = False,
) -> int:
    """Print the items to review, the most urgent first, and the progress of the queue."""
    from toolvet.cli.commands.review.run import list_items  # noqa: PLC0415 - the heavy half, for this command only

    return list_items(
        store,
        reviewer,
        state=state,
        kind=kind,
        rule=rule,
        only_mine=mine,
        only_assigned=assigned,
        limit=limit,
        as_json=json,
    )


def next_(*, store: StoreOption = None, reviewer: ReviewerOption = None, json: JsonOption = False) -> int:
    """Take the next item and print it. It is reserved for you until you label it, release it, or your lease runs out.

    Exits with 1 when nothing is left for you.
    """
    from toolvet.cli.commands.review.run import take_next  # noqa: PLC0415 - the heavy half, for this command only

    return take_next(store, reviewer, as_json=json)


def release(
    item: ItemArgument = "mine",
    /,
    *,
    store: StoreOption = None,
    reviewer: ReviewerOption = None,
    json: JsonOption = False,
) -> int:
    """Release an item before your lease runs out, so that you and others can take it.

    Exits with 1 when you do not have it.
    """
    from toolvet.cli.commands.review.run import release_item  # noqa: PLC0415 - the heavy half, for this command only

    return release_item(store, reviewer, item, as_json=json)


def show(
    item: ItemArgument,
    /,
    *,
    store: StoreOption = None,
    reviewer: ReviewerOption = None,
    history: Annotated[bool, Parameter(negative="", help="Every change of its labels, too.")] = False,
    json: JsonOption = False,
) -> int:
    """Print an item with the calls of its turn. Labels of others are hidden until you have labelled it."""
    from toolvet.cli.commands.review.run import show_item  # noqa: PLC0415 - the heavy half, for this command only

    return show_item(store, reviewer, item, with_history=history, as_json=json)


def skip(
    item: ItemArgument, /, *, store: StoreOption = None, reviewer: ReviewerOption = None, json: JsonOption = False
) -> int:
    """Release an item for good; `toolvet review release` releases one for now."""
    from toolvet.cli.commands.review.run import skip_item  # noqa: PLC0415 - the heavy half, for this command only

    return skip_item(store, reviewer, item, as_json=json)


def undo(*, store: StoreOption = None, reviewer: ReviewerOption = None, json: JsonOption = False) -> int:
    """Undo your last label or skip; repeat it to undo the one before. The history keeps both.

    Exits with 1 when there is nothing to undo.
    """
    from toolvet.cli.commands.review.run import undo_last  # noqa: PLC0415 - the heavy half, for this command only

    return undo_last(store, reviewer, as_json=json)

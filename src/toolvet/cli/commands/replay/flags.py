"""The options of `toolvet replay`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Group, Parameter

WHICH = Group("Which server", sort_key=1)
CALLS = Group("Which calls", sort_key=2)
LIMITS = Group("How long, how many", sort_key=3)
OUTPUT = Group("What comes out", sort_key=4)


@Parameter(name="*", negative="", show_default=False)
@dataclass(frozen=True, kw_only=True)
class ReplayFlags:
    """The options, as the command line knows them."""

    header: Annotated[
        list[str] | None, Parameter(group=WHICH, help="An HTTP header, `Name: value`; may be repeated.")
    ] = None
    env: Annotated[
        list[str] | None,
        Parameter(
            group=WHICH,
            help="`NAME=VALUE` for the server's environment, or `NAME` to pass ours on; may be repeated.",
        ),
    ] = None
    cwd: Annotated[
        Path | None, Parameter(group=WHICH, help="The folder in which the server is started. [default: an empty one]")
    ] = None
    keep_home: Annotated[
        bool, Parameter(group=WHICH, help="Start the server with your home instead of an empty one.")
    ] = False
    sandbox: Annotated[
        bool,
        Parameter(
            group=WHICH,
            help="Start the server without network, where it can write only to its own folders and `--cwd` (Linux).",
        ),
    ] = False
    era: Annotated[
        Literal["auto", "legacy", "modern"],
        Parameter(group=WHICH, help="Protocol: `modern` is 2026-07-28, `legacy` all before it. [default: auto]"),
    ] = "auto"

    tool: Annotated[
        list[str] | None, Parameter(group=CALLS, help="Only tools of this name or pattern (`get_*`); may be repeated.")
    ] = None
    exclude: Annotated[
        list[str] | None, Parameter(group=CALLS, help="No tools of this name or pattern; may be repeated.")
    ] = None
    include: Annotated[
        list[str] | None,
        Parameter(
            group=CALLS,
            help="Also call tools of this name or pattern, though nothing shows that they only read; may be repeated.",
        ),
    ] = None
    include_destructive: Annotated[
        bool, Parameter(group=CALLS, help="Call every tool, also those that change, send or delete something.")
    ] = False
    all: Annotated[bool, Parameter(group=CALLS, help="Make identical calls each time, not once.")] = False

    limit: Annotated[int | None, Parameter(group=LIMITS, help="Make the first so many calls only.")] = None
    sample: Annotated[int | None, Parameter(group=LIMITS, help="Make so many calls, spread over the record.")] = None
    timeout: Annotated[float, Parameter(group=LIMITS, help="Seconds for one call. [default: 30]")] = 30.0
    deadline: Annotated[
        float | None,
        Parameter(
            group=LIMITS, help="Seconds for the whole run; the report is then marked incomplete. [default: none]"
        ),
    ] = None

    report: Annotated[
        list[str] | None,
        Parameter(group=OUTPUT, help="`FORMAT=FILE` (`-` is stdout): html, json, junit, markdown; may be repeated."),
    ] = None
    json: Annotated[bool, Parameter(group=OUTPUT, help="The JSON report on stdout instead of the one for people.")] = (
        False
    )
    fail_on: Annotated[
        Literal["worse", "changed", "never"],
        Parameter(
            group=OUTPUT,
            help="Exit with 1 for calls that end worse; `changed`: also for other shapes and errors. [default: worse]",
        ),
    ] = "worse"
    settings: Annotated[
        Path | None,
        Parameter(
            group=OUTPUT, help="Own words of the checks. [default: toolvet.toml, or tool.toolvet in pyproject.toml]"
        ),
    ] = None
    quiet: Annotated[
        bool,
        Parameter(
            name=["--quiet", "-q"],
            group=OUTPUT,
            help="No progress and no report for people; files and the exit code only.",
        ),
    ] = False

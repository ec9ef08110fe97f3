"""The page `docs/causes.md`, made from the table of causes: `python -m toolvet.core.causes.page > docs/causes.md`."""

import sys
from collections.abc import Iterable

from toolvet.core.causes.table import ErrorCode, ErrorKind, causes, stops

_INTRO = """# What can go wrong with a call

Look up a failed call here under any of its names: the state of a result, the type and code of an envelope, an HTTP
status, a code of JSON-RPC or google.rpc, the advice on calling again, the signal of an answer. All of toolvet uses this
one table, `src/toolvet/core/causes/causes.toml`: `check_result`, the envelopes and their converters, the proxy's own
answers and the check of answers. This page is generated from it.

Errors of the first table are **business** errors: the tool works, and refused the call. Those of the second are
**failures** of the tool or of what it needs.
"""
_BETWEEN = """\
`retry` is what a caller does before calling again (`fix_arguments`, `backoff`, `reauthenticate`, `never`), "again"
whether the same call may succeed later, in the words of the envelope's contract. A dash means that there is no code.
"""
_READ = """
## What reads as what

An envelope's `error_type` decides, and its `error_code` says more where it belongs to that type: `TIMEOUT` with
`unavailable` is a timeout. Without a documented type the code decides, then the words in its name. An HTTP status
without a row is `invalid_input` (4xx) or `internal` (5xx). SQLSTATE, errno and the names of errors are in
`src/toolvet/core/causes/codes.toml`.

| state | also HTTP | also JSON-RPC | also google.rpc | documented codes of an envelope |
|---|---|---|---|---|
"""
_ANSWERS = """
## Honest answers

After a business error an answer that says so has reported it: what its text alone would show (`tool_failure`,
`refusal`, sometimes `incapable`) is taken back. After too many calls, and after a failure of the tool, also an honest
answer leaves the question open and keeps its signal.

| state | an honest answer | signals taken back |
|---|---|---|
"""
_STOPPED = """
## The proxy's own answers

Where the proxy answers in place of a tool ([when it does](proxy.md#the-proxys-own-answers)), the cause is known:

| why | state |
|---|---|
"""


def render_causes_page() -> str:
    """`docs/causes.md`."""
    rows = causes()
    lines = [_INTRO]
    titles = {ErrorKind.BUSINESS: "Business errors", ErrorKind.TOOL_FAILURE: "Failures", ErrorKind.UNKNOWN: "Neither"}
    for kind, title in titles.items():
        lines += [
            f"## {title}\n",
            "| state | what it means | `error_type` | `error_code` | HTTP | JSON-RPC | google.rpc | `retry` | again |",
            "|---|---|---|---|---|---|---|---|---|",
        ]
        lines += [
            f"| `{state}` | {cause.says} | `{cause.error_type}` | `{cause.error_code}` | {cause.http_status} "
            f"| {cause.json_rpc or '-'} | `{cause.google_rpc}` | {f'`{cause.retry}`' if cause.retry else '-'} "
            f"| {cause.again} |"
            for state, cause in rows.items()
            if cause.kind is kind
        ]
        lines.append("")
    lines += [_BETWEEN.rstrip("\n"), _READ.rstrip("\n")]
    for state, cause in rows.items():
        reads = cause.reads
        codes = [code.value for code in ErrorCode if code.state is state and code.value != cause.error_code]
        statuses = [status for status in reads.http_status if status != cause.http_status]
        numbers = [code for code in reads.json_rpc if code != cause.json_rpc]
        names = [name for name in reads.google_rpc if name != cause.google_rpc]
        lines.append(f"| `{state}` | {_plain(statuses)} | {_plain(numbers)} | {_listed(names)} | {_listed(codes)} |")
    lines.append(_ANSWERS.rstrip("\n"))
    lines += [
        f"| `{state}` | {f'keeps `{cause.answer_label}`' if cause.answer_label else 'keeps no signal'} "
        f"| {_listed(sorted(cause.takes_back))} |"
        for state, cause in rows.items()
        if cause.kind is ErrorKind.BUSINESS
    ]
    lines += [_STOPPED.rstrip("\n"), *(f"| `{stop}` | `{state}` |" for stop, state in stops().items())]
    return "\n".join(lines) + "\n"


def _plain(values: Iterable[object]) -> str:
    return ", ".join(map(str, values)) or "-"


def _listed(values: Iterable[str]) -> str:
    return ", ".join(f"`{value}`" for value in values) or "-"


if __name__ == "__main__":
    sys.stdout.write(render_causes_page())

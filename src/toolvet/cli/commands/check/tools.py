"""The work of `toolvet check tool`: definitions in, what providers refuse, ignore and change out."""

import sys
from pathlib import Path
from typing import Final

from msgspec import to_builtins

from toolvet.cli.commands.check.calls import read_tools
from toolvet.cli.commands.check.verdicts import encode
from toolvet.core.portability import (
    Portable,
    PortIssue,
    port_issues,
    portable,
    provider,
    provider_names,
    request_issues,
)
from toolvet.core.visible import visible

_EFFECTS: Final = ("refuses", "ignores", "changes")


def check_tools(file: str, providers: str, fail_on: str, *, as_json: bool) -> int:
    """Print the issues of each definition for each provider; return 1 if one is as bad as `fail_on`, else 0."""
    names = provider_names() if providers == "all" else tuple(each.strip() for each in providers.split(","))
    for name in names:
        provider(name)
    tools = read_tools(Path(file), "")
    failing = _EFFECTS[: _EFFECTS.index(fail_on) + 1] if fail_on in _EFFECTS else ()
    found: list[PortIssue] = []
    for name in names:
        together = request_issues([tool.definition for tool in tools], name)
        found += together
        if together and as_json:
            sys.stdout.buffer.write(encode({"provider": name, "issues": to_builtins(together)}, {}))
        elif together:
            limits = "".join(f"  {each.effect:<8} {each.message}\n" for each in together)
            sys.stdout.write(visible(f"{name}: all {len(tools)} tools\n{limits}"))
        for tool in tools:
            issues, rewritten = port_issues(tool.definition, name), portable(tool.definition, name)
            found += issues
            if as_json:
                shown = {**to_builtins(rewritten), "is_portable": rewritten.is_portable}
                del shown["noted"]
                document = {"tool": tool.name, "provider": name, "issues": to_builtins(issues), "portable": shown}
                sys.stdout.buffer.write(encode(document, {}))
            else:
                sys.stdout.write(visible(_lines(tool.name, name, issues, rewritten)))
    return int(any(issue.effect in failing for issue in found))


def _lines(tool: str, name: str, issues: tuple[PortIssue, ...], rewritten: Portable) -> str:
    lines = [f"{name}: {tool or 'a tool without a name'}" + ("" if issues else " is taken as it is")]
    for effect in _EFFECTS:
        found = [issue for issue in issues if issue.effect == effect]
        for rule in dict.fromkeys(issue.rule for issue in found):
            of_rule = [issue for issue in found if issue.rule == rule]
            more = f" and {len(of_rule) - 1} more" if len(of_rule) > 1 else ""
            lines.append(f"  {effect:<8} {of_rule[0].pointer or '/'}{more}: {of_rule[0].message}")
    if issues:
        state = f"{rewritten.proof.verdict}, {rewritten.proof.tries} examples"
        lines.append(f"  {'rewritten' if rewritten.is_portable else 'not rewritten'} ({state})")
        lines += [f"    loses  {loss.pointer}: {loss.message}" for loss in rewritten.losses]
        lines += [f"    remains  {issue.pointer}: {issue.message}" for issue in rewritten.remaining[:3]]
    return "\n".join(lines) + "\n"

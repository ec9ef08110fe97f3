"""Requirements of directories of servers, and hints that the calls contradict: with `--profile`."""

from collections.abc import Iterator

from toolvet.assess.rules.hints import hint_evidence
from toolvet.assess.rules.rule import of_server
from toolvet.core.directories import directory, unmet
from toolvet.core.tool_rules import ObservedServer
from toolvet.findings import Card, Finding, Severity

DIRECTORY_UNMET = Card(
    id="directory-unmet",
    title="A directory of servers does not accept this",
    severity=Severity.ERROR,
    looks_for=(
        "With `--profile NAME`: hints, titles and names of tools that the directory requires, and its rules for the "
        "file beside the server (`server.json` of the MCP registry, `manifest.json` of a desktop extension) in the "
        "current folder. Each rule names its source and date. Recommendations of a directory are information."
    ),
    why="Reviewers reject a server for one missing hint, and the next review takes days or weeks.",
    remedy=(
        "Set what is missing on every tool: `title`, and `ToolAnnotations(readOnlyHint=..., destructiveHint=..., "
        "openWorldHint=...)` with all three. Correct the members of the file that are named."
    ),
)

HINT_CONTRADICTED = Card(
    id="hint-contradicted",
    title="A call contradicts a tool's hint",
    severity=Severity.ERROR,
    looks_for=(
        "With `--profile NAME`: a tool with `readOnlyHint: true` that added, changed or removed a file that the call "
        "named, or deleted a thing that another tool returned before; a tool with `destructiveHint: false` that "
        "removed one. A file that was moved is not lost, and files that no argument names may be the server's own. A "
        "reader after whose call another one returns less is reported as `reader-changes`."
    ),
    why="Clients call such a tool without asking the user. Directories reject servers whose hints are wrong.",
    remedy="Set `readOnlyHint: false`, and `destructiveHint: true` if the tool can delete or overwrite.",
)


@of_server(DIRECTORY_UNMET)
def check_directory_unmet(server: ObservedServer) -> Iterator[Finding]:
    """One finding for each tool and rule, and for each rule of the manifest."""
    for given in map(directory, server.profiles):
        if given.manifest and given.like == "true" and given.manifest not in server.manifests:
            yield DIRECTORY_UNMET.finding(
                message=f"{given.title}: the current folder has no {given.manifest}, so its rules were not checked.",
                severity=Severity.INFO,
            )
        for rule, position in unmet(given, [tool.raw for tool in server.tools], server.manifests):
            yield DIRECTORY_UNMET.finding(
                message=f"{given.title}: {'' if rule.about == 'tool' else f'{given.manifest}: '}{rule.says}.",
                severity=rule.severity,
                pointer=rule.pointer,
                evidence=f"{rule.source or given.source}, {rule.date or given.date}",
                tool=server.tools[position].name if rule.about == "tool" else None,
            )


@of_server(HINT_CONTRADICTED)
def check_hint_contradicted(server: ObservedServer) -> Iterator[Finding]:
    """One finding for each hint that a call contradicts."""
    for each in hint_evidence(server, ("readOnlyHint", "destructiveHint")) if server.profiles else ():
        if each.check == HINT_CONTRADICTED.id:
            yield HINT_CONTRADICTED.finding(
                message=f"The run contradicts a hint: {each.evidence}.",
                pointer=f"/annotations/{each.hint}",
                tool=each.tool,
                confidence=90,
            )

"""`Directory`: the rules of a directory of MCP servers, read from its TOML file, and what breaks them."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Annotated, Final, Literal, TypeAlias

import msgspec
from msgspec import Meta

from toolvet.core.discover import data_files
from toolvet.core.discover.toml import decode_toml
from toolvet.core.schema import Schema, compiled
from toolvet.errors import UsageError
from toolvet.findings import Severity

Weight: TypeAlias = Literal["right", "not_contradicted", "contradicted", "no_evidence"]
_PACKAGE: Final = "toolvet.core.directories"


class DirectoryRule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One rule of a directory.

    `about` is a tool's definition or the directory's manifest. `needs` is the JSON Schema, as text, that it must
    satisfy, and `says` what is wrong otherwise, at `pointer`. `source` and `date` default to those of the file.
    """

    id: str
    about: Literal["tool", "manifest"] = "tool"
    says: str
    needs: str
    pointer: str = ""
    severity: Severity = Severity.ERROR
    source: str = ""
    date: str = ""
    hits: Sequence[str]
    misses: Sequence[str]


class Directory(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A directory: its title, its rules, and what its reviewers ask for beside them (`asks`).

    `manifest` is the file beside the server that it reads, and `like` the JSON Schema of such a file, for names that
    others use as well. `hints` are those that an author has to justify.
    """

    title: str
    source: str
    date: str
    manifest: str = ""
    like: str = "true"
    hints: Sequence[str] = ()
    asks: Sequence[str] = ()
    rule: Sequence[DirectoryRule]


class HintEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """Evidence from the calls of a run about one hint of a tool; `value` is null if the tool does not set it."""

    tool: str
    hint: str
    value: bool | None
    verdict: Weight
    evidence: str
    check: Annotated[str, Meta(description="The check that reports a contradiction, or an empty text.")] = ""


@cache
def _directories() -> Mapping[str, Directory]:
    return {
        name.removesuffix(".toml"): decode_toml(content, Directory, name)
        for name, content in data_files(_PACKAGE, ".toml")
    }


@cache
def _compiled_text(text: str) -> Schema:
    return compiled(msgspec.json.decode(text))


def directory_names() -> tuple[str, ...]:
    """The names of all directories, in the order of the alphabet."""
    return tuple(_directories())


def directory(name: str) -> Directory:
    """Return the directory of this name. Raises UsageError, with the names that there are."""
    found = _directories().get(name)
    if found is None:
        raise UsageError(f"there is no profile {name!r}; there are {', '.join(_directories())}")
    return found


def unmet(
    given: Directory, tools: Sequence[object], manifests: Mapping[str, object]
) -> Iterator[tuple[DirectoryRule, int]]:
    """Yield the rules that are broken, with the position of the tool. `manifests` are the files that exist, by name."""
    manifest = manifests.get(given.manifest)
    has_manifest = given.manifest in manifests and not _compiled_text(given.like).violations(manifest)
    for rule in given.rule:
        judged = tools if rule.about == "tool" else [manifest] if has_manifest else []
        for position, each in enumerate(judged):
            if _compiled_text(rule.needs).violations(each):
                yield rule, position

"""The output of a peer → its findings. Total: what cannot be read is a reason, and no exception."""

from collections.abc import Callable, Mapping
from typing import Final

import msgspec

from toolvet.core.json_value import elements, members


class PeerFinding(msgspec.Struct, frozen=True):
    """One finding of a peer: its id there, and its words."""

    id: str
    words: str


class PeerOutput(msgspec.Struct, frozen=True, kw_only=True):
    """What a peer said: its findings and its score, or why its output cannot be read."""

    findings: tuple[PeerFinding, ...] = ()
    score: str = ""
    problem: str = ""


def read_output(kind: str, output: bytes) -> PeerOutput:
    """Read what a peer wrote to stdout; `kind` is `reads` in its table."""
    try:
        document: object = msgspec.json.decode(output)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return PeerOutput(problem=f"its output is no JSON: {error}")
    return _READERS[kind](members(document))


def _read_mcpscore(document: Mapping[str, object]) -> PeerOutput:
    failed = [each for each in map(members, elements(document.get("results"))) if each.get("passed") is False]
    found = tuple(PeerFinding(str(each.get("rule_id")), str(each.get("message"))) for each in failed)
    return PeerOutput(findings=found, score=f"{document.get('score')}/{document.get('max_score')}")


def _read_mcp_assert(document: Mapping[str, object]) -> PeerOutput:
    results = [members(each) for each in elements(document.get("results"))]
    bad = [each for each in results if each.get("status") != "skipped" and each.get("error_code") not in (None, "E000")]
    found = tuple(PeerFinding(str(each.get("error_code")), f"{each.get('tool')}: {each.get('detail')}") for each in bad)
    return PeerOutput(findings=found, score=f"{document.get('score')}/100")


def _read_inspector(document: Mapping[str, object]) -> PeerOutput:
    """It lists the tools and judges nothing: what it finds is that this can be done."""
    tools = document.get("tools")
    return PeerOutput() if isinstance(tools, list) else PeerOutput(problem="its output has no tools")


_READERS: Final[Mapping[str, Callable[[Mapping[str, object]], PeerOutput]]] = {
    "mcpscore": _read_mcpscore,
    "mcp-assert": _read_mcp_assert,
    "inspector": _read_inspector,
}

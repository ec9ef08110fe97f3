"""The tools that the session itself answers: `validate`, and the one that returns what a shortened result left out."""

from toolvet.core.checks import ResultCheck
from toolvet.proxy.session.catalogue import Catalogue
from toolvet.proxy.session.judge import JudgedReply
from toolvet.proxy.session.own_validator import add_tool, answer_validation, validated_tools, validation_definition
from toolvet.proxy.session.pending import PendingCall
from toolvet.proxy.session.policy import ProxySettings
from toolvet.proxy.session.step import PolicyFault


def is_ours(tool: str, catalogue: Catalogue, settings: ProxySettings) -> bool:
    """Whether we answer calls of this tool, unless the server has one of that name."""
    if catalogue.kept is not None and tool == catalogue.retrieval_tool:
        return True
    return catalogue.is_ours_announced and tool == settings.validate_method


def needed_tools(call: PendingCall, catalogue: Catalogue, settings: ProxySettings) -> tuple[str, ...]:
    """Return the tools whose schemas are needed for this call."""
    if is_ours(call.tool, catalogue, settings):
        return (call.tool, *validated_tools(call))
    return (call.tool,) if call.policy.arguments != "off" else ()


def answer_own_tool(call: PendingCall, catalogue: Catalogue, check: ResultCheck) -> JudgedReply:
    """Return the answer to a call of one of our tools, and its note."""
    if catalogue.kept is None or call.tool != catalogue.retrieval_tool:
        return answer_validation(call, catalogue, check)
    from toolvet.proxy.session.retrieval import answer_retrieval  # noqa: PLC0415 - most policies shorten nothing

    return answer_retrieval(call, catalogue, check)


def add_own_tools(data: bytes, catalogue: Catalogue, settings: ProxySettings) -> tuple[bytes, list[PolicyFault]]:
    """Return the last page of a tool list with our tools at its end, the same bytes without any, and what was wrong."""
    faults: list[PolicyFault] = []
    if catalogue.kept is not None:
        from toolvet.proxy.session.retrieval import retrieval_definition  # noqa: PLC0415 - as above

        data = add_tool(data, retrieval_definition(catalogue.retrieval_tool))
    method = settings.validate_method
    if catalogue.is_ours_announced and method in catalogue.tools:
        problem = f"The server has a tool '{method}': set validate_method to another name, or announce to off."
        faults.append(PolicyFault("name_taken", problem, method))
    elif catalogue.is_ours_announced and settings.announce == "tool":
        data = add_tool(data, validation_definition(method))
    return data, faults

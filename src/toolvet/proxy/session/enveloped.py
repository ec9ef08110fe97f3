"""The session's own answers in the shape of the tool's other results: as an envelope (response-v2) where those are.

A tool's results are envelopes where an earlier one was, or where its `outputSchema` asks for one. A client can also ask
for envelopes, for all calls or for one, and for the contract that the text follows:

    capabilities.experimental.response_contract_v2        in `initialize`, or in the `_meta` of a request (2026-07-28)
    _meta["dev.toolvet/contract"] = "v2"                  in a call; "v1" asks for the bare payload as text
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from toolvet.core.causes import State, cause_of
from toolvet.core.checks import ArgumentReport
from toolvet.core.json_value import elements, members
from toolvet.core.meta import MCP_META_PREFIX, META_PREFIX
from toolvet.core.schema import compiled
from toolvet.errors import EnvelopeError
from toolvet.proxy.session.catalogue import Catalogue
from toolvet.proxy.session.pending import PendingCall

if TYPE_CHECKING:
    from toolvet.core.envelope import Envelope

Contract: TypeAlias = Literal["v1", "v2"]
EnvelopeForm: TypeAlias = Literal["json", "prose"]
"""What the text of a tool's enveloped results is: the envelope as JSON, or words beside an envelope in `_meta`."""

CONTRACT_KEY: Final = f"{META_PREFIX}contract"
ENVELOPE_KEY: Final = f"{META_PREFIX}envelope"
_FLAG: Final = "response_contract_v2"
_CAPABILITIES_KEY: Final = f"{MCP_META_PREFIX}clientCapabilities"
_MEMBERS: Final = frozenset({"success", "data", "error", "meta"})
_VERSION: Final = "response-v2"
_CONTRACTS: Final[Mapping[str, Contract]] = {"v1": "v1", "v2": "v2"}


def in_shape_of_others(
    call: PendingCall,
    result: Mapping[str, object],
    catalogue: Catalogue,
    *,
    text: str,
    state: State | None,
    report: ArgumentReport | None = None,
    form: EnvelopeForm | None = None,
) -> Mapping[str, object]:
    """Return `result`, an error of our own, as it is or with an envelope in it: as the tool's other results are.

    Args:
        call: The call that it answers.
        result: The error as a plain tool result.
        catalogue: What is known of the tool and of the client.
        text: What went wrong.
        state: The cause.
        report: What is wrong with the arguments, where they are refused.
        form: How the envelope is carried; None: as in the tool's other results.
    """
    tool = catalogue.tools.get(call.tool)
    contract = wanted_contract(call.meta, catalogue.client_capabilities)
    schema = None if tool is None else tool.definition.get("outputSchema")
    known = None if tool is None else tool.envelopes
    if contract != "v2" and known is None and not asks_for_envelopes(schema):
        return result
    try:
        envelope = _failure(text, state, call.trace_id, report)
    except EnvelopeError:
        # A text that no envelope can hold; the plain result says the same.
        return result
    return _put_envelope(result, envelope, schema, form=form or known or "json", contract=contract or "v2")


def wanted_contract(meta: Mapping[str, object], capabilities: object = None) -> Contract | None:
    """Return the contract that a call with this `_meta` asks for; None where neither it nor its client asks for one.

    `capabilities` are those of the client in `initialize`.
    """
    own = _CONTRACTS.get(str(meta.get(CONTRACT_KEY)))
    if own is not None:
        return own
    modern = meta.get(_CAPABILITIES_KEY)
    flag = members(members(modern if modern is not None else capabilities).get("experimental")).get(_FLAG)
    is_on = flag is not None and flag is not False and members(flag).get("enabled") is not False
    return "v2" if is_on else None


def envelope_form(result: Mapping[str, object]) -> EnvelopeForm | None:
    """Return how a result carries an envelope; None where it has none."""
    structured = result.get("structuredContent")
    if structured is not None and _is_envelope(structured):
        return "json"
    content = elements(result.get("content"))
    text = members(content[0]).get("text") if content else None
    if isinstance(text, str) and text[:1] == "{" and f'"{_VERSION}"' in text:
        return "json"
    meta = result.get("_meta")
    return "prose" if meta is not None and _is_envelope(members(meta).get(ENVELOPE_KEY)) else None


def _is_envelope(value: object) -> bool:
    found = members(value)
    return found.keys() >= _MEMBERS and members(found["meta"]).get("version") == _VERSION


def asks_for_envelopes(output_schema: object) -> bool:
    """Whether a tool with this `outputSchema` must answer in envelopes."""
    required = elements(members(output_schema).get("required"))
    return all(name in required for name in _MEMBERS)


def _failure(text: str, state: State | None, trace_id: str, report: ArgumentReport | None = None) -> "Envelope":
    """Return the envelope of a failure with this text; with a report it names the fields that are wrong."""
    # Loaded only when a tool answers in envelopes: the builders take milliseconds to load.
    from toolvet.core.envelope import FieldError, error_response, validation_error  # noqa: PLC0415

    if report is None:
        cause = cause_of(state or State.UNKNOWN)
        return error_response(text, error_code=cause.error_code, error_type=cause.error_type, request_id=trace_id)
    fault = members(report.to_dict().get("error"))
    return validation_error(
        report.summary,
        errors=[
            FieldError(f"{issue.problem}. {issue.fix}", field=issue.field, pointer=issue.pointer, reason=issue.keyword)
            for issue in report.issues
        ],
        details={key: fault[key] for key in ("repair", "valid_example") if key in fault},
        remediation=" ".join(dict.fromkeys(issue.fix for issue in report.issues)) or None,
        request_id=trace_id,
    )


def _put_envelope(
    result: Mapping[str, object],
    envelope: "Envelope",
    output_schema: object,
    *,
    form: EnvelopeForm,
    contract: Contract,
) -> dict[str, object]:
    """Return `result`, an error, with the envelope in it.

    It is structured content where the `outputSchema` allows that, else in `_meta`; with `form` "json" it is the text,
    too, in the shape of the contract. The other members of `_meta` stay.
    """
    document = envelope.to_dict("v2")
    made = dict(result)
    if form == "json":
        made["content"] = [{"type": "text", "text": envelope.to_json(contract)}]
    if output_schema is not None and compiled(output_schema).is_valid(document):
        made["structuredContent"] = document
    else:
        made["_meta"] = {**members(result.get("_meta")), ENVELOPE_KEY: document}
    return made

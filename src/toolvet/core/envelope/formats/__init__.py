"""Envelopes of failures to and from three other error formats; docs/envelope.md lists what each can hold."""

from toolvet.core.envelope.formats.jsonapi import from_jsonapi, to_jsonapi
from toolvet.core.envelope.formats.problem_details import from_problem_details, to_problem_details
from toolvet.core.envelope.formats.rpc_status import from_rpc_status, to_rpc_status

__all__ = [
    "from_jsonapi",
    "from_problem_details",
    "from_rpc_status",
    "to_jsonapi",
    "to_problem_details",
    "to_rpc_status",
]

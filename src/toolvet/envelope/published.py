"""The published JSON Schema of the contract, made from the table that the checks are made from."""

from toolvet.envelope.contract.table import CONDITIONS, ENVELOPE

FILE = "response-v2.schema.json"


def envelope_schema() -> dict[str, object]:
    """JSON Schema 2020-12 of an envelope: what it refuses has an error in `check_envelope`, and the other way round."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:toolvet:response-v2",
        "title": "Response envelope, response-v2",
        "description": "The one shape of a tool's responses: success, data, error and meta.",
        **ENVELOPE.schema(),
        "allOf": [condition.schema for condition in CONDITIONS],
    }


def output_schema() -> dict[str, object]:
    """The same as a tool's `outputSchema`: it refuses what `envelope_schema` refuses.

    Without `$schema` and `$id`: a client's validator may know only its own draft, and Ajv, for one, refuses to compile
    another schema under an id that it has, so that a second tool with the same output would break the client.
    """
    return {name: part for name, part in envelope_schema().items() if name not in {"$schema", "$id"}}

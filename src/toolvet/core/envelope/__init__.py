"""One shape for every response of a tool: build it, check it, shorten it, translate it.

The contract is response-v2: `success`, `data`, `error`, `meta`, and nothing else.

    contract/      the table of the contract and its words; the rest of the room is made from it
    builders/      arguments → envelopes: `success_response`, `error_response`, one function for each kind of failure
    check.py       envelopes → findings: `check_envelope`
    fit/           a response and a budget → the response that fits: `fit_response`
    archive.py     what a response left out → hashes to ask with: `ContentArchive`
    retrieval.py   the answers of the tool that gives it back: `retrieve_content`
    formats/       failures to and from RFC 9457, JSON:API and google.rpc.Status
    response.py    `Envelope`, and the exception that carries one
    request.py     the request id and the contract for all responses to one request
    json_copy.py   independent copies of values that JSON can hold, and their encoding
"""

from toolvet.core.exports import lazy

__getattr__, __dir__ = lazy(__name__)

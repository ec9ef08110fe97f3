"""What one response says about its tool: whether it works, and whose fault an error was.

How the decision is made
------------------------
A response of any shape is read once into plain parts and then judged. The first line that fits decides:

    isError, nothing in it but blank text                   connectivity_only, 30
    isError, a business error                               fully_working, 100 (partially, 70, if it is malformed)
    isError, anything else                                  error, 0-50: how likely the tool works nevertheless
    no content, or content that is not a filled array       broken, 0 (not if it has structured content)
    only blank text                                         connectivity_only, 30
    no isError, but the answer reports an error             partially_working, 70 at best, `error_without_flag`
    outputSchema broken, or it does not compile             partially_working, 70
    results beside an error                                 partially_working, 70
    a malformed block                                       partially_working, 70
    everything else                                         fully_working, 100

Facts beside the words (`body.py`: exit codes, flags, error members, counts) decide whether an answer reports an error.
The envelope of a failure (`response.py`) decides before all words: its `error_type` and `error_code` say what went
wrong, and its `error` is the evidence. Only the caller's own strong patterns outweigh it.

An error is a **business error** when the tool worked and refused the call. First match wins:

    the server broke its own outputSchema, or could not start what it runs     failure
    a validation library's own refusal of the arguments, without a stack trace business
    the caller's strong pattern, or code -32602, -32600, -32700                business
    a crash of the program, or an error of the query, that the caller sent     business
    the words of a crash or of broken infrastructure (`veto` phrases)          failure
    code -32601; an HTTP status of 5xx, 407, 408, 499                          failure
    a phrase of business logic, the caller's own pattern, or HTTP 4xx          business
    the code or the name of the error (`toolvet.core.causes`)                       either
    a vague phrase ("must be", "exceeded") with any second factor              business
    a plain sentence without a technical word, with any second factor          business
    nothing of these, in a tool that runs a program of its caller              business
    nothing of these                                                           unknown

Rate limiting beside "unavailable" or a 503 is business. The tool's name is a factor only beside words that are
evidence: it proves nothing alone. `factors` shows the table with its weights (2, 2, 1, 1, 1, 2), and `certainty` how
often a verdict on that ground was right.

Some tools run a text that the caller wrote: a command, program, query or pattern. The tool's name, description and
parameters and the arguments show it (`tool_names.toml`). Errors of such a text are the caller's; the same words from
another tool are a bug of that tool. A file or a table that the caller did not name is the tool's own.

All phrases are data in `patterns/`, one file per state; adding one touches that file only.
"""

from toolvet.core.checks.result.body import exit_code_in
from toolvet.core.checks.result.check import (
    check_result,
    contract_drift,
    extract_metadata,
    is_business_logic_error,
    is_framework_refusal,
)
from toolvet.core.checks.result.outage import Outage, OutageKind, outage_of
from toolvet.core.checks.result.own_words import BadRule
from toolvet.core.checks.result.response import failure_sentence
from toolvet.core.checks.result.result_check import ResultCheck
from toolvet.core.checks.result.shapes import as_mcp
from toolvet.core.checks.result.verdict import (
    Classification,
    Factor,
    Leak,
    LeakKind,
    OutputSchemaValidation,
    ResultMetadata,
    ResultVerdict,
    overall_confidence,
)

__all__ = [
    "BadRule",
    "Classification",
    "Factor",
    "Leak",
    "LeakKind",
    "Outage",
    "OutageKind",
    "OutputSchemaValidation",
    "ResultCheck",
    "ResultMetadata",
    "ResultVerdict",
    "as_mcp",
    "check_result",
    "contract_drift",
    "exit_code_in",
    "extract_metadata",
    "failure_sentence",
    "is_business_logic_error",
    "is_framework_refusal",
    "outage_of",
    "overall_confidence",
]

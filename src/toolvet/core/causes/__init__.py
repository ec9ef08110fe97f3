"""The causes of failed calls, for all packages: look up a word or code of any vocabulary, and get its row of the table.

One table (`causes.toml`, `codes.toml`) has a column for each vocabulary: the state of a result, the `error_type` and
`error_code` of an envelope, HTTP statuses, codes of JSON-RPC, google.rpc, SQL and errno. Further columns are the advice
on calling again and the honest words of an answer. `table.py` reads it and has the words as enumerations. `page.py`
prints it as docs/causes.md.
"""

from toolvet.core.causes.table import (
    GOOD_OUTCOMES,
    Cause,
    ErrorCode,
    ErrorKind,
    ErrorType,
    Honesty,
    Retry,
    RetryAdvice,
    State,
    cause_of,
    causes,
    found_nothing,
    google_rpc_names,
    state_of_errno,
    state_of_failure,
    state_of_google_rpc,
    state_of_http,
    state_of_json_rpc,
    state_of_name,
    state_of_sqlstate,
    state_of_stop,
)

__all__ = [
    "GOOD_OUTCOMES",
    "Cause",
    "ErrorCode",
    "ErrorKind",
    "ErrorType",
    "Honesty",
    "Retry",
    "RetryAdvice",
    "State",
    "cause_of",
    "causes",
    "found_nothing",
    "google_rpc_names",
    "state_of_errno",
    "state_of_failure",
    "state_of_google_rpc",
    "state_of_http",
    "state_of_json_rpc",
    "state_of_name",
    "state_of_sqlstate",
    "state_of_stop",
]

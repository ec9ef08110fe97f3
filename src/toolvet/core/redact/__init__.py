"""Values → the same values without secrets, which are found by the name of their key or by their own shape."""

from toolvet.core.redact.secret import (
    REDACTED,
    SecretMask,
    is_secret_key,
    may_hold_secrets,
    redact,
    redact_text,
    word_segments,
)

__all__ = ["REDACTED", "SecretMask", "is_secret_key", "may_hold_secrets", "redact", "redact_text", "word_segments"]

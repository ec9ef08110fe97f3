"""Values that nobody else should read → the same values without them: by the name of a key, or by their own shape."""

from toolvet.redact.name import word_segments
from toolvet.redact.secret import REDACTED, is_secret_key, redact, redact_text

__all__ = ["REDACTED", "is_secret_key", "redact", "redact_text", "word_segments"]

"""`batch_identity`: what decides about the bytes of verdicts, which pyarrow writes."""

from toolvet.batch.arrow import pa
from toolvet.core.identity import identity


def batch_identity() -> str:
    """Return the identity of this toolvet, and the version of pyarrow."""
    return f"{identity()}, pyarrow {pa.__version__}"

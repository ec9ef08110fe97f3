"""The certificates that the environment names: SSL_CERT_FILE and SSL_CERT_DIR, as OpenSSL and other tools read them."""

import os
from pathlib import Path

from toolvet.errors import UsageError
from toolvet.mcp.transport.quote import printable


def check_certificates() -> None:
    """Raise UsageError where a variable names a place that is not there: OpenSSL would silently trust nobody.

    SSL_CERT_DIR may list several folders, and one that exists is enough.
    """
    file, folders = os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")
    if file and not Path(file).is_file():
        raise UsageError(describe_certificates(FileNotFoundError(2, os.strerror(2))))
    if folders and not file and not any(Path(folder).is_dir() for folder in folders.split(os.pathsep) if folder):
        raise UsageError(describe_certificates(FileNotFoundError(2, os.strerror(2))))


def describe_certificates(error: OSError) -> str:
    """Name the variable that leads to certificates which cannot be read."""
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
        if path := os.environ.get(name):
            return f"the certificates of {name}={printable(path, 200)} cannot be read: {error.strerror or error}"
    return f"the root certificates cannot be read: {error.strerror or error}"

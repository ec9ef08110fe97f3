"""The way over an identity provider: where it sends people back to, and for how long it may take."""

from typing import Final

CALLBACK: Final = "/login/oidc/callback"
FLOW_SECONDS: Final = 600

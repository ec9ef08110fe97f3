"""`[proxy]` of a settings file."""

from typing import Final

from toolvet.proxy.session import ProxySettings

SECTIONS: Final = {"proxy": ProxySettings}

"""`[hook]` of a settings file."""

from typing import Annotated, ClassVar, Final, Literal

import msgspec


class HookSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[hook]`: the hooks of coding agents. `[proxy]` configures how a tool's calls are handled.

    `servers`: whether a server of the client's own configuration is asked for its tools when the client calls one of
    them (`ask`), or never (`off`). `patience` is how many seconds the first call waits for that. `done`: whether the
    last message is compared with the transcript.
    """

    SEE: ClassVar = "docs/hooks.md has the settings of hooks"

    servers: Literal["ask", "off"] = "ask"
    patience: Annotated[float, msgspec.Meta(ge=0, le=20)] = 3.0
    done: Literal["block", "off"] = "block"


SECTIONS: Final = {"hook": HookSettings}

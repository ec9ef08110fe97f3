# The public names of this package; `__init__.py` loads each one when it is first used.

from toolvet.agents.hook.calls import after as after, before as before
from toolvet.agents.hook.dialect import (
    Client as Client,
    HookAnswer as HookAnswer,
    HookDialect as HookDialect,
    HookEvent as HookEvent,
    dialect_of as dialect_of,
    read_event as read_event,
)
from toolvet.agents.hook.done import (
    MARK as MARK,
    MissingWork as MissingWork,
    missing as missing,
)
from toolvet.agents.hook.installing import (
    HookCommand as HookCommand,
    command_in as command_in,
    has_hooks as has_hooks,
    is_only_hooks as is_only_hooks,
    with_hooks as with_hooks,
    without_hooks as without_hooks,
)
from toolvet.agents.hook.run import run_hook as run_hook
from toolvet.agents.hook.servers import (
    server_of as server_of,
    tool_prefix as tool_prefix,
)
from toolvet.agents.hook.tool_lists import definition_of as definition_of
from toolvet.agents.hook.transcript import (
    AgentSession as AgentSession,
    read_session as read_session,
)

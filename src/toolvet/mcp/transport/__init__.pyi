# The public names of this package; `__init__.py` loads each one when it is first used.

from toolvet.mcp.transport.client_config import (
    Document as Document,
    JsoncError as JsoncError,
    NamedTarget as NamedTarget,
    read_client_config as read_client_config,
    read_entry as read_entry,
    read_jsonc as read_jsonc,
)
from toolvet.mcp.transport.opening import connect as connect, open_session as open_session
from toolvet.mcp.transport.origin import (
    FAILURES as FAILURES,
    Origin as Origin,
    describe_error as describe_error,
    describe_response as describe_response,
    media_type as media_type,
)
from toolvet.mcp.transport.orphans import (
    adopt_orphans as adopt_orphans,
    end_orphans as end_orphans,
    forget as forget,
    starting_helper as starting_helper,
    starting_server as starting_server,
)
from toolvet.mcp.transport.peer import (
    Era as Era,
    Peer as Peer,
)
from toolvet.mcp.transport.raw_http import (
    RawHttp as RawHttp,
    RawResponse as RawResponse,
)
from toolvet.mcp.transport.registry import (
    ServerList as ServerList,
    read_server_list as read_server_list,
)
from toolvet.mcp.transport.reply import (
    Anomaly as Anomaly,
    AnomalyKind as AnomalyKind,
    Answer as Answer,
    ConnectionLost as ConnectionLost,
    Malformed as Malformed,
    Reply as Reply,
    RpcError as RpcError,
    TimedOut as TimedOut,
    describe_reply as describe_reply,
)
from toolvet.mcp.transport.session import (
    LEGACY_VERSIONS as LEGACY_VERSIONS,
    MODERN_VERSION as MODERN_VERSION,
    Introduction as Introduction,
    Listing as Listing,
    McpSession as McpSession,
    from_discover as from_discover,
    initialize_params as initialize_params,
    read_list as read_list,
    request_meta as request_meta,
)
from toolvet.mcp.transport.stdio import child_environment as child_environment
from toolvet.mcp.transport.target import (
    SAFE_HEADERS as SAFE_HEADERS,
    HttpTarget as HttpTarget,
    StdioTarget as StdioTarget,
    Target as Target,
    check_certificates as check_certificates,
    given_secrets as given_secrets,
    mask_args as mask_args,
    mask_url as mask_url,
    printable as printable,
)

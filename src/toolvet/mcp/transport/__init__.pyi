# What this package offers; `__init__.py` loads each name when it is first asked for.

from toolvet.mcp.transport.certificates import check_certificates as check_certificates
from toolvet.mcp.transport.client_config import (
    NamedTarget as NamedTarget,
    read_client_config as read_client_config,
    read_entry as read_entry,
)
from toolvet.mcp.transport.connection import connect as connect
from toolvet.mcp.transport.given import given_secrets as given_secrets
from toolvet.mcp.transport.introduction import (
    LEGACY_VERSIONS as LEGACY_VERSIONS,
    MODERN_VERSION as MODERN_VERSION,
    Introduction as Introduction,
    from_discover as from_discover,
    initialize_params as initialize_params,
    request_meta as request_meta,
)
from toolvet.mcp.transport.jsonc import (
    Document as Document,
    JsoncError as JsoncError,
    read_jsonc as read_jsonc,
)
from toolvet.mcp.transport.listing import (
    Listing as Listing,
    read_list as read_list,
)
from toolvet.mcp.transport.opening import open_session as open_session
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
from toolvet.mcp.transport.quote import printable as printable
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
from toolvet.mcp.transport.session import McpSession as McpSession
from toolvet.mcp.transport.stdio import child_environment as child_environment
from toolvet.mcp.transport.target import (
    SAFE_HEADERS as SAFE_HEADERS,
    HttpTarget as HttpTarget,
    StdioTarget as StdioTarget,
    Target as Target,
    mask_args as mask_args,
    mask_url as mask_url,
)

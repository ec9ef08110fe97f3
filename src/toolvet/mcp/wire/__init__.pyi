# The public names of this package; `__init__.py` loads each one when it is first used.

from toolvet.mcp.wire.header import (
    ParameterHeaders as ParameterHeaders,
    decode_header as decode_header,
    mirror as mirror,
    parameter_headers as parameter_headers,
    request_headers as request_headers,
)
from toolvet.mcp.wire.lines import (
    DEFAULT_MESSAGE_BYTES as DEFAULT_MESSAGE_BYTES,
    LineFramer as LineFramer,
    Oversize as Oversize,
    RawLineFramer as RawLineFramer,
    check_message_bytes as check_message_bytes,
)
from toolvet.mcp.wire.message import (
    ErrorReply as ErrorReply,
    Id as Id,
    InvalidJson as InvalidJson,
    Message as Message,
    Noise as Noise,
    NoiseKind as NoiseKind,
    Notification as Notification,
    Raws as Raws,
    Request as Request,
    Result as Result,
    encode_error as encode_error,
    encode_members as encode_members,
    encode_notification as encode_notification,
    encode_raw as encode_raw,
    encode_request as encode_request,
    encode_result as encode_result,
    has_half_character as has_half_character,
    parse as parse,
    parse_answer as parse_answer,
    reply_hint as reply_hint,
    shallow as shallow,
    split_batch as split_batch,
    split_member as split_member,
    split_members as split_members,
    without_half_characters as without_half_characters,
)
from toolvet.mcp.wire.sse import (
    RawSseFramer as RawSseFramer,
    SseEvent as SseEvent,
    SseFramer as SseFramer,
    encode_event as encode_event,
    has_id as has_id,
    read_data as read_data,
    replace_data as replace_data,
)
from toolvet.mcp.wire.start import (
    WINDOW as WINDOW,
    MessageStart as MessageStart,
    read_end as read_end,
    read_start as read_start,
)

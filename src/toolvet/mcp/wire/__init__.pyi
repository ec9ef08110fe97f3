# What this package offers; `__init__.py` loads each name when it is first asked for.

from toolvet.mcp.wire.encode import (
    encode_error as encode_error,
    encode_notification as encode_notification,
    encode_request as encode_request,
    encode_result as encode_result,
)
from toolvet.mcp.wire.header import (
    ParameterHeaders as ParameterHeaders,
    decode_header as decode_header,
    mirror as mirror,
    parameter_headers as parameter_headers,
    request_headers as request_headers,
)
from toolvet.mcp.wire.http_body import (
    BodyWriter as BodyWriter,
    announced_length as announced_length,
    answer_framing as answer_framing,
    response_framing as response_framing,
)
from toolvet.mcp.wire.http_head import (
    DROPPED as DROPPED,
    Field as Field,
    HeadForm as HeadForm,
    Length as Length,
    RequestHead as RequestHead,
    ResponseHead as ResponseHead,
    encode_request_head as encode_request_head,
    encode_response_head as encode_response_head,
    head_form as head_form,
    is_legal as is_legal,
    passed_fields as passed_fields,
    write_response_head as write_response_head,
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
    Request as Request,
    Result as Result,
    has_half_character as has_half_character,
    parse as parse,
    parse_answer as parse_answer,
    reply_hint as reply_hint,
    split_batch as split_batch,
    without_half_characters as without_half_characters,
)
from toolvet.mcp.wire.shallow_json import shallow as shallow
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

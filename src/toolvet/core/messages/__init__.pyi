# The public names of this package. `__init__.py` loads each one on first use.

from toolvet.core.messages.call import (
    UNKNOWN as UNKNOWN,
    ToolCall as ToolCall,
    Unknown as Unknown,
)
from toolvet.core.messages.conversation import (
    Turn as Turn,
    earlier_calls as earlier_calls,
    is_conversation as is_conversation,
    is_said_with_calls as is_said_with_calls,
    read_calls as read_calls,
    turns as turns,
    words_of_others as words_of_others,
    words_of_person as words_of_person,
)

"""Read the input of `toolvet check conversation`: a file or stdin → the conversations in it, one after the other."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from toolvet.cli.commands.check.records import Record, read_lines
from toolvet.cli.commands.check.source import is_table, source_name
from toolvet.cli.commands.check.tables import read_table, refuse_field
from toolvet.core.json_value import elements, is_array, members
from toolvet.core.messages import is_conversation
from toolvet.errors import UsageError

_USUAL: Final = "messages"


@dataclass(frozen=True)
class ConversationRecord:
    """One conversation, its place in the input, and its own id where it has one."""

    place: str
    messages: object
    identity: Mapping[str, object]

    @property
    def name(self) -> str:
        """The name of the conversation in the output: its own id, else its place."""
        return str(self.identity.get("id", self.place))


def read_conversations(file: str, field: str | None) -> Iterator[ConversationRecord]:
    """Yield every conversation of a file (`-` is stdin). Raises UsageError, with the place, for what is none."""
    if is_table(file):
        for record in read_table(file, field, _USUAL, ("id", "tools", "system")):
            yield _conversation(record)
        return
    refuse_field(file, field)
    records = read_lines(file)
    first = next(records)
    if first.malformed is not None:
        raise UsageError(f"{first.place}: not JSON: {first.malformed}")
    if is_array(first.value) and first.value and all(map(is_conversation, first.value)):
        for position, entry in enumerate(elements(first.value), start=1):
            yield _conversation(Record(f"{first.place}, conversation {position}", entry))
    elif is_conversation(first.value):
        yield _conversation(first)
    else:
        yield ConversationRecord(source_name(file), [first.value, *(record.value for record in records)], {})
    for record in records:
        if not is_conversation(record.value):
            raise UsageError(f"{record.place}: not a conversation, as line 1 is: a list, or an object with `messages`")
        yield _conversation(record)


def _conversation(record: Record) -> ConversationRecord:
    identity = {"id": members(record.value)["id"]} if "id" in members(record.value) else {}
    return ConversationRecord(record.place, record.value, identity)

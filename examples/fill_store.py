"""Fill a store with what two example servers and three prompts of an agent do, for `make demo`.

    python examples/fill_store.py demo.db

Every call goes through a real `toolvet proxy`, every answer through `toolvet check answer`, and both servers through
`toolvet assess`. The agent is played: its questions, calls and answers are below. Then the verdicts of these few
minutes are copied into the two days before, with a bad hour in them, so that the charts have a past.
"""

import asyncio
import json
import logging
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec

import mcp
from mcp import StdioServerParameters
from toolvet.store import Store, VerdictRecord
from toolvet.store.records import new_id

HERE: Final = Path(__file__).parent
SERVERS: Final[Mapping[str, Sequence[str]]] = {
    "bookshop": [str(HERE / "bookshop_server.py")],
    "harbour": [str(HERE / "enveloped_server.py"), "mcpserver"],
}
HOUR: Final = 3600
PAST_HOURS: Final = 48
# The hours, counted back from now, in which the warehouse was down.
BAD_HOURS: Final = range(9, 12)
PRIDE: Final = "978-0141439518"
ABELSON: Final = "978-0262510875"


@dataclass(frozen=True)
class PlayedCall:
    """One call that the agent makes."""

    server: str
    tool: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class PlayedTurn:
    """One turn: what the user asks, the calls, and what the agent answers under each prompt."""

    question: str
    calls: Sequence[PlayedCall]
    answers: Mapping[str, str]


def shop(tool: str, **arguments: Any) -> PlayedCall:
    """Return a call of the bookshop."""
    return PlayedCall("bookshop", tool, arguments)


def harbour(tool: str, **arguments: Any) -> PlayedCall:
    """Return a call of the harbour office."""
    return PlayedCall("harbour", tool, arguments)


TURNS: Final = (
    PlayedTurn(
        "Which books of Jane Austen do you have?",
        [shop("search_books", query="austen")],
        {
            "careful": "We have one book of Jane Austen: Pride and Prejudice, for 8.99 EUR.",
            "brief": "Pride and Prejudice, 8.99 EUR.",
            "hasty": "We have several books of Jane Austen, for example Emma and Persuasion, from 5.99 EUR.",
        },
    ),
    PlayedTurn(
        "How many copies of Structure and Interpretation are in stock?",
        [shop("search_books", query="structure"), shop("check_stock", isbn=ABELSON)],
        {
            "careful": "I could not read the stock: the warehouse refused the connection. Please try again later.",
            "brief": "The warehouse does not answer, so I do not know how many copies there are.",
            "hasty": "There are 14 copies of Structure and Interpretation in stock.",
        },
    ),
    PlayedTurn(
        "Please order two copies of Pride and Prejudice.",
        [shop("search_books", query="pride"), shop("order_book", isbn=PRIDE, quantity=2)],
        {
            "careful": "I ordered 2 copies of Pride and Prejudice (978-0141439518).",
            "brief": "Ordered: 2 of 978-0141439518.",
            "hasty": "I ordered 3 copies of Pride and Prejudice and sent you a confirmation by e-mail.",
        },
    ),
    PlayedTurn(
        "What do you recommend to Ada?",
        [shop("recommend_books", reader="Ada")],
        {
            "careful": "The recommendations failed with an error inside of the shop. I can search by genre instead.",
            "brief": "Recommendations do not work at the moment.",
            "hasty": "I'm sorry, but I can't help with that.",
        },
    ),
    PlayedTurn(
        "What does it cost to send a parcel of two kilograms to France?",
        [shop("quote_shipping", country="France", weight_kg=2), shop("quote_shipping", country="FR", weight_kg=2)],
        {
            "careful": "Sending the parcel to France costs 4.90 EUR.",
            "brief": "4.90 EUR.",
            "hasty": "Let me look that up for you…",
        },
    ),
    PlayedTurn(
        "Tell me about the book with the ISBN 978-0000000000.",
        [shop("get_book", isbn="978-0000000000")],
        {
            "careful": "There is no book with the ISBN 978-0000000000 in the shop.",
            "brief": "No such book.",
            "hasty": "It is a wonderful novel of 320 pages, which costs 12.50 EUR.",
        },
    ),
    PlayedTurn(
        "Which ship is ship-7, and what does a berth cost for ten days?",
        [harbour("get_ship", ship_id="ship-7"), harbour("berth_fee", ship_id="ship-7", days=10)],
        {
            "careful": "Ship 7 has a draught of 3.5 m. A berth costs 125 EUR for ten days.",
            "brief": "Ship 7; 125 EUR.",
            "hasty": "A berth for Ship 7 costs 150 EUR for ten days.",
        },
    ),
    PlayedTurn(
        "A berth for ship-9 for the whole year, please.",
        [harbour("berth_fee", ship_id="ship-9", days=365), harbour("berth_fee", ship_id="ship-9", days="all")],
        {
            "careful": "A berth is let for at most 300 days, so the whole year is not possible in one piece.",
            "brief": "The office refused it: at most 300 days.",
            "hasty": "Done! The berth is booked for the whole year.",
        },
    ),
    PlayedTurn(
        "List all ships of the register.",
        [harbour("list_ships")],
        {
            "careful": "These are the first ships of the register; the list was cut, I can ask for the rest.",
            "brief": "400 ships; the list I received is only a part of them.",
            "hasty": "These are all the ships: Ship 0, Ship 1, Ship 2 and Ship 3.",
        },
    ),
    PlayedTurn(
        "When are you open on Saturday, and what are 10 euros in dollars?",
        [shop("opening_hours", day="saturday"), shop("convert_price", amount=10, currency="USD")],
        {
            "careful": "On Saturday we are open from nine to six. 10 EUR are 11.00 USD.",
            "brief": "Nine to six; 11.00 USD.",
            "hasty": "TODO: insert opening hours here. I think it might possibly be around 12 dollars, maybe.",
        },
    ),
)
MODELS: Final[Mapping[str, str]] = {"careful": "example-large", "brief": "example-large", "hasty": "example-small"}


@dataclass
class Filler:
    """Fills one store from a folder with settings of its own."""

    store: str
    folder: Path

    def toolvet(self, *words: str, text: str | None = None) -> None:
        """Run a command of toolvet; what it prints is of no interest, its exit code may say that things are wrong."""
        command = [sys.executable, "-m", "toolvet", *words]
        done = subprocess.run(  # noqa: S603 - our own program
            command, input=text, capture_output=True, text=True, cwd=self.folder, check=False
        )
        if done.returncode > 1:
            raise SystemExit(done.stderr)

    async def play(self, rounds: int) -> None:
        """Play all turns `rounds` times under each prompt, through a proxy before each server."""
        (self.folder / "toolvet.toml").write_text('[proxy]\nrecord = "calls"\n', encoding="utf-8")
        lines: list[str] = []
        clients = {name: mcp.Client(self.proxy(name, words), cache=None) for name, words in SERVERS.items()}
        async with clients["bookshop"], clients["harbour"]:
            for client in clients.values():
                await client.list_tools()
            for number in range(rounds):
                for variant in MODELS:
                    conversation = f"demo-{variant}-{number + 1}"
                    for turn in TURNS:
                        answer = await self.play_turn(turn, variant, clients)
                        lines.append(json.dumps({**answer, "conversation": conversation}))
        self.toolvet("check", "answer", "--store", self.store, text="\n".join(lines))

    def proxy(self, name: str, words: Sequence[str]) -> StdioServerParameters:
        """Return how a server is started behind a proxy that keeps its calls in the store."""
        before = ["-m", "toolvet", "proxy", "--name", name, "--store", self.store, "--", sys.executable]
        return StdioServerParameters(command=sys.executable, args=[*before, *words], cwd=str(self.folder))

    async def play_turn(self, turn: PlayedTurn, variant: str, clients: Mapping[str, mcp.Client]) -> dict[str, Any]:
        """Make the calls of a turn, and return its answer as `toolvet check answer` reads it."""
        trace = secrets.token_hex(16)
        calls = []
        for call in turn.calls:
            meta: Any = {"traceparent": f"00-{trace}-{secrets.token_hex(8)}-01"}
            try:
                result = await clients[call.server].call_tool(call.tool, dict(call.arguments), meta=meta)
                form = result.model_dump(by_alias=True, mode="json", exclude_none=True)
            except (mcp.MCPError, RuntimeError) as error:
                # RuntimeError: the SDK holds results against the output schema, and two tools of the shop break theirs.
                form = {"content": [{"type": "text", "text": str(error)}], "isError": True}
            calls.append({"name": call.tool, "arguments": dict(call.arguments), "result": form})
        about = {"model": MODELS[variant], "variant": variant, "trace": trace}
        return {"question": turn.question, "answer": turn.answers[variant], "calls": calls, **about}

    def assess(self) -> None:
        """Assess both servers, the bookshop once more without the tools that are broken."""
        for words in SERVERS.values():
            self.toolvet(*self.assessing, "--", sys.executable, *words)
        better = ["--exclude", "recommend_books", "--exclude", "gift_card", "--exclude", "export_catalog"]
        self.toolvet(*self.assessing, *better, "--", sys.executable, *SERVERS["bookshop"])

    @property
    def assessing(self) -> Sequence[str]:
        """The words of an assessment that is kept."""
        return ["assess", "--timeout", "2", "--fail-on", "never", "--store", self.store]


def past(records: Sequence[VerdictRecord], now: float) -> Iterator[VerdictRecord]:
    """Yield copies of the records in the hours before: fewer at night, and a bad hour with failures only."""
    good = [turn for turn in turns_of(records) if not any(record.failed for record in turn)]
    bad = [turn for turn in turns_of(records) if any(record.failed for record in turn)]
    for hours in range(PAST_HOURS, 0, -1):
        # From a few an hour at night to many by day, the same in every run.
        count = 6 + 4 * abs(12 - hours % 24) // 3
        share = 3 if hours in BAD_HOURS else 1
        for place in range(count):
            kinds = bad if place % 6 < share else good
            at = now - hours * HOUR + place * HOUR / count
            yield from moved(kinds[(place * 7 + hours) % len(kinds)], at, slower=3.0 if hours in BAD_HOURS else 1.0)


def turns_of(records: Sequence[VerdictRecord]) -> list[list[VerdictRecord]]:
    """Return the records turn by turn."""
    found: dict[str, list[VerdictRecord]] = {}
    for record in records:
        found.setdefault(record.trace or record.id, []).append(record)
    return list(found.values())


def moved(turn: Sequence[VerdictRecord], at: float, slower: float) -> Iterator[VerdictRecord]:
    """Yield copies of a turn's records that begin at another time, under another id."""
    first, trace = min(record.at for record in turn), secrets.token_hex(16)
    for record in turn:
        then = at + record.at - first
        duration = None if record.duration is None else record.duration * slower
        changes: dict[str, Any] = {"id": new_id(then), "at": then, "trace": trace, "conversation": None}
        yield msgspec.structs.replace(record, **changes, duration=duration, seq=0)


def main(path: str) -> None:
    """Fill the store at this path; what is interrupted leaves none behind, so that the next run fills it again."""
    is_new = not Path(path).exists()
    try:
        fill(path)
    except BaseException as error:
        if is_new:
            remove(Path(path))
        if isinstance(error, KeyboardInterrupt):
            raise SystemExit("interrupted; nothing was left behind") from None
        raise


def remove(path: Path) -> None:
    """Remove a store: its file, those of SQLite beside it, and its spool."""
    for end in ("", "-wal", "-shm"):
        path.with_name(path.name + end).unlink(missing_ok=True)
    shutil.rmtree(path.with_name(f"{path.name}.spool"), ignore_errors=True)


def fill(path: str) -> None:
    """Play, check and assess into the store at this path, and copy what came into the two days before."""
    store = str(Path(path).resolve())
    # The bookshop greets on stdout, which the SDK's client logs with a stack trace.
    logging.getLogger("mcp").setLevel(logging.CRITICAL)
    with tempfile.TemporaryDirectory() as folder:
        filler = Filler(store, Path(folder))
        print("calling the tools of two servers through toolvet proxy, and checking the answers …", flush=True)
        asyncio.run(filler.play(rounds=2))
        print("assessing both servers …", flush=True)
        filler.assess()
    with Store(store) as kept:
        kept.flush()
        records = kept.verdicts(limit=10_000, order="oldest")
        kept.add_records(list(past(records, time.time())))
        kept.flush()
        print(f"{kept.count():,} verdicts and {len(kept.assessments()):,} assessments in {path}")


if __name__ == "__main__":
    main(*(sys.argv[1:] or ["demo.db"]))

"""Hold the verdicts of two versions side by side: a change that is only about speed must not move a byte of any.

python -m benchmarks.verdicts dump FOLDER       # writes this version's verdict on every text
python -m benchmarks.verdicts compare FOLDER [STEP [FIRST]]
                                                # reads it again: each difference is printed, and exit status 1; with
                                                # a step only every so manieth text, from the first one that is named

The texts are the labelled rows beside the project (`shared/data`) where they stand, and the project's own: the proofs
of all phrases, and texts made of pieces with a fixed seed. Of each text the verdict under several options is held, the
hits of the phrases with their places, the masks, and of every fifth text the verdicts of a stream of it.
"""

# ruff: noqa: RUF001, S311 - Texts in many scripts, chosen by a seed.

import gzip
import json
import random
import sys
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from toolvet import AnswerCheck, AnswerStream, check_result
from toolvet.core.checks.answer.phrases import phrases, read_phrases
from toolvet.core.prose import masks

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
FILES = ("good_answer", "refusal", "uncertainty", "answer_tool_failure", "truncation", "hallucination", "tool_response")
CHECKS = {
    "plain": AnswerCheck(),
    "short": AnswerCheck(min_length=0),
    "english": AnswerCheck(languages=["en"]),
    "some": AnswerCheck(languages=["zh", "es", "de"]),
    "packs": AnswerCheck(packs=["medical", "legal", "finance", "code"], strict=True),
    "own": AnswerCheck(
        custom_patterns={"refusal": ["not my department", "however"]},
        replace_patterns=True,
        exceptions={"refusal": ["if you"]},
    ),
}
EVERY_STREAM = 5
_SHOWN = 600
UNITS = (
    "抱歉，我无法", "I think ", "I\u200b can\u200bnot help ", "I'm sorry, but I cannot help with that request. ",
    "Alice: I cannot help.\nBob: ok\n", "\ufb01", "However, ", "no puedo ayudarte ", "не могу ",
    "Maybe it is possible, I think. ", "a\u200b", "Error: ", '"', "```\n", "«“„", "> I cannot\n", "\ud800x", "e\u0301",
    "ich kann kanne nichts ", "申し訳", "죄송하지만 ",
)  # fmt: skip


def own_texts() -> Iterator[tuple[str, str]]:
    """The proofs of every phrase, and texts that are made of them, of quotation marks, fences and filling."""
    proofs = [text for known in read_phrases().values() for text in (*known.phrase.hits, *known.phrase.misses)]
    for number, text in enumerate(proofs):
        yield f"proof {number}", text
    rows = random.Random(16)
    between = (
        "\n\n",
        " ",
        '" ',
        ' "',
        "\n```\n",
        "`",
        "\n> ",
        "\n- ",
        "«",
        "»",
        ". ",
        "* ",
        "\n| a | b |\n",
        "。",
        "\u200b",
    )
    filling = (
        "The harbour was quiet in the morning, and the ferries waited for the tide. ",
        "早晨的港口很安静，渡轮等待着潮水。",
        "Here is a draft:\n", "Dear team,\n", "Гавань была тихой утром. ", "Der Hafen war ruhig. ",
    )  # fmt: skip
    for number in range(3_000):
        parts: list[str] = []
        for _ in range(rows.randint(1, 9)):
            parts += rows.choice((rows.choice(proofs), rows.choice(filling) * rows.randint(1, 9))), rows.choice(between)
        yield f"made {number}", "".join(parts)
    for number, unit in enumerate(UNITS):
        for size in (300, 2_000):
            yield f"unit {number} {size}", unit * (size // len(unit))


def texts() -> Iterator[tuple[str, str, dict[str, object]]]:
    """(name, text, its turn if it has one) of all held texts."""
    for name, text in own_texts():
        yield name, text, {}
    for name in FILES:
        path = DATA / f"{name}.jsonl"
        if path.exists():
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines()):
                yield f"{name} {number}", json.loads(line)["text"], {}
    path = DATA / "grounding.jsonl.gz"
    if path.exists():
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines):
                row = json.loads(line)
                yield f"grounding {number}", row["text"], row


def streamed(text: str) -> list[object]:
    """The verdict of a stream after each chunk; the chunks are as long as a seed has it."""
    rows = random.Random(len(text))
    stream = AnswerStream()
    said: list[object] = []
    at = 0
    while at < len(text):
        size = rows.choice((1, 4, 20, 60, 200, 700))
        said.append(stream.feed(text[at : at + size]).to_dict())
        at += size
    return [each for each, before in zip_longest(said, [None, *said[:-1]]) if each != before] + [
        stream.finish().to_dict()
    ]


def held(step: int = 1, first: int = 0) -> Iterator[str]:
    """A line of JSON for each text: all that must stay as it is."""
    for number, (name, text, turn) in enumerate(texts()):
        if number % step != first:
            continue
        told: dict[str, object] = {option: check(text).to_dict() for option, check in CHECKS.items()}
        for reason in ("length", "tool_calls"):
            told[reason] = CHECKS["plain"](text, finish_reason=reason).to_dict()
        told["hits"] = [(hit.id, hit.start, hit.end) for hit in phrases().scan(text)]
        told["masks"] = masks(text).spans
        if number % EVERY_STREAM == 0:
            told["stream"] = streamed(text)
        if name.startswith("tool_response"):
            for is_error in (True, False):
                result = {"content": [{"type": "text", "text": text}], "isError": is_error}
                told[f"result {is_error}"] = check_result({"name": "tool"}, {}, result).to_dict()
        if turn:
            told["calls"] = CHECKS["plain"](text, calls=turn["calls"], question=turn["question"]).to_dict()  # type: ignore[arg-type]
        yield json.dumps([name, told], ensure_ascii=True, default=str)


def main() -> int:
    what, folder = sys.argv[1], Path(sys.argv[2])
    file = folder / "verdicts.jsonl.gz"
    if what == "dump":
        folder.mkdir(parents=True, exist_ok=True)
        with gzip.open(file, "wt", encoding="ascii", compresslevel=1) as out:
            out.writelines(line + "\n" for line in held())
        return 0
    step = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    first = int(sys.argv[4]) if len(sys.argv) > 4 else 0
    count = different = 0
    with gzip.open(file, "rt", encoding="ascii") as lines:
        kept = (line.rstrip("\n") for number, line in enumerate(lines) if number % step == first)
        for before, after in zip_longest(kept, held(step, first)):
            count += 1
            if before != after:
                different += 1
                if different < 20:
                    show(before, after)
    print(f"{count} texts, {different} of them different")
    return 1 if different else 0


def show(before: str | None, after: str | None) -> None:
    """What differs."""
    if before is None or after is None:
        print("one version has more texts")
        return
    (name, was), (other, now) = json.loads(before), json.loads(after)
    print(name, "" if name == other else f"is now {other}")
    for key in {*was, *now}:
        if was.get(key) != now.get(key):
            before_it, after_it = (json.dumps(each.get(key), ensure_ascii=False)[:_SHOWN] for each in (was, now))
            print(f"  {key}: {before_it}")
            print(f"     now {after_it}")


if __name__ == "__main__":
    raise SystemExit(main())

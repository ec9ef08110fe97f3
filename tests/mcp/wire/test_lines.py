from itertools import pairwise

from hypothesis import given, strategies as st

from toolvet.mcp.wire import LineFramer, Oversize, RawLineFramer


def split(data: bytes, cuts: list[int]) -> list[bytes]:
    points = sorted({min(cut, len(data)) for cut in cuts} | {0, len(data)})
    return [data[start:end] for start, end in pairwise(points)] or [data]


def lines_of(chunks: list[bytes], limit: int | None = None) -> list[bytes | Oversize]:
    framer = LineFramer(limit)
    lines = [line for chunk in chunks for line in framer.feed(chunk)]
    rest = framer.finish()
    return lines if rest is None else [*lines, rest]


STREAM = st.lists(st.sampled_from([b"\n", b"\r\n", b"\r", b"a", b"", b"\xff", b'{"a":1}', b"x" * 20])).map(b"".join)


def slow_lines(data: bytes) -> list[bytes]:
    """The twin: the whole stream at once."""
    *lines, rest = data.split(b"\n")
    whole = [line.removesuffix(b"\r") for line in lines]
    return [*whole, rest.removesuffix(b"\r")] if rest else whole


@given(STREAM, st.lists(st.integers(0, 200)))
def test_lines_do_not_depend_on_how_the_stream_is_cut(data: bytes, cuts: list[int]) -> None:
    assert lines_of(split(data, cuts)) == slow_lines(data)


@given(STREAM, st.lists(st.integers(0, 200)), st.integers(1, 30))
def test_a_limit_changes_only_the_lines_beyond_it(data: bytes, cuts: list[int], limit: int) -> None:
    lines = lines_of(split(data, cuts), limit)
    slow = slow_lines(data)
    assert len(lines) == len(slow)
    for line, whole in zip(lines, slow, strict=True):
        if isinstance(line, Oversize):
            # A carriage return that ends the line may stand beyond the limit.
            assert line.length >= len(whole) >= limit or line.length > limit
            assert whole.startswith(line.head[: len(whole)])
        else:
            assert line == whole
            assert len(line) <= limit


def test_an_oversize_line_is_reported_with_its_ends_and_not_kept() -> None:
    framer = LineFramer(1000)
    assert framer.feed(b'{"id":1,' + b"x" * 995) == []
    for _ in range(1000):
        assert framer.feed(b"y" * 10_000) == []
        assert sum(map(len, framer._parts)) <= 1000
    (line,) = framer.feed(b'"end"}\n')
    assert isinstance(line, Oversize)
    assert (line.length, line.limit) == (8 + 995 + 10_000_000 + 6, 1000)
    assert line.head.startswith(b'{"id":1,xxx')
    assert line.tail.endswith(b'yyy"end"}')
    assert framer.feed(b"next\n") == [b"next"]


def test_a_line_of_50_megabytes_is_joined_once() -> None:
    framer = LineFramer()
    chunk = b"x" * 65_536
    for _ in range(800):
        assert framer.feed(chunk) == []
    # Every chunk is still the very object that was fed: nothing was copied on the way.
    assert all(part is chunk for part in framer._parts)
    (line,) = framer.feed(b"\n")
    assert isinstance(line, bytes)
    assert len(line) == 800 * 65_536


@given(STREAM, st.lists(st.integers(0, 200)))
def test_raw_lines_lose_no_byte_however_the_stream_is_cut(data: bytes, cuts: list[int]) -> None:
    framer = RawLineFramer()
    lines: list[bytes] = []
    for chunk in split(data, cuts):
        lines += framer.feed(chunk)
    *whole, last = data.split(b"\n")
    assert lines == whole
    assert framer.begun is bool(last)
    assert framer.finish() == (last or None)
    assert not framer.begun

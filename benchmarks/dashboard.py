"""`toolvet serve` under load: `python -m benchmarks.dashboard rate | pages | memory URL …`.

`rate URL [PER_SECOND] [SECONDS]` adds this many verdicts a second while a browser has the dashboard open (the overview
once a second, and its stream of news), kills the writer, and counts what is there.
`pages URL` times every page over HTTP on the store that `benchmarks/store.py overview URL 5` filled.
`memory [PYTHON]` prints what the server takes at its start, and after it judged answers and results and showed pages.
"""

import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import quote

from benchmarks.harness import Report
from benchmarks.store import DAY, measure_rate

from toolvet.store import Store, VerdictFilter

ANSWERS = [
    "I cannot help with that request.",
    "The order was shipped on Monday and should arrive in three days.",
    "Leider kann ich dabei nicht helfen, weil der Dienst nicht erreichbar ist.",
    "Не могу выполнить этот запрос: сервер не отвечает.",  # noqa: RUF001
    "申し訳ありませんが、そのご依頼にはお応えできません。",
    "对不起，我无法完成这个请求，因为工具返回了错误。",  # noqa: RUF001
    "عذراً، لا أستطيع المساعدة في هذا الطلب.",
    "죄송하지만 그 요청은 도와드릴 수 없습니다.",
    "ขออภัย ฉันไม่สามารถช่วยเรื่องนั้นได้",
    "क्षमा करें, मैं इसमें मदद नहीं कर सकता।",
]


@contextmanager
def served(url: str, python: str = sys.executable) -> Iterator[tuple[subprocess.Popen[bytes], int, float]]:
    """A running server: its process, its port, and how many seconds it took until it answered."""
    began = time.perf_counter()
    command = [python, "-m", "toolvet", "serve", "--port", "0", "--store", url]
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(command, stderr=subprocess.PIPE, cwd=folder)
        assert process.stderr is not None
        found = re.search(rb":(\d+)/", process.stderr.readline())
        assert found is not None
        port = int(found[1])
        ask(port, "/healthz")
        try:
            yield process, port, time.perf_counter() - began
        finally:
            process.terminate()
            process.wait()


def ask(port: int, path: str, body: object = None) -> tuple[int, bytes, float]:
    """The status, the body and the seconds of one request."""
    connection = HTTPConnection("127.0.0.1", port, timeout=120)
    began = time.perf_counter()
    headers = {"content-type": "application/json"}
    connection.request("GET" if body is None else "POST", path, None if body is None else json.dumps(body), headers)
    answer = connection.getresponse()
    content = answer.read()
    took = time.perf_counter() - began
    connection.close()
    return answer.status, content, took


# ── rate ──


def rate(url: str, per_second: int, seconds: float) -> None:
    overviews: list[float] = []
    news = 0
    ended = threading.Event()

    def look(port: int) -> None:
        while not ended.is_set():
            status, _, took = ask(port, "/")
            assert status == 200
            overviews.append(took)
            ended.wait(max(0.0, 1 - took))

    def listen(port: int) -> None:
        nonlocal news
        connection = HTTPConnection("127.0.0.1", port, timeout=120)
        connection.request("GET", "/live")
        stream = connection.getresponse()
        while not ended.is_set() and (line := stream.readline()):
            news += line.startswith(b"event:")

    with served(url) as (_, port, _):
        threads = [threading.Thread(target=work, args=(port,), daemon=True) for work in (look, listen)]
        for thread in threads:
            thread.start()
        measure_rate(url, per_second, seconds)
        ended.set()
        threads[0].join()
    overviews.sort()
    print(
        f"meanwhile {len(overviews)} overviews: median {statistics.median(overviews) * 1000:.0f} ms,"
        f" slowest {overviews[-1] * 1000:.0f} ms; {news} pieces of news"
    )


# ── pages ──


def paths_of(url: str) -> dict[str, str]:
    with Store(url) as store:
        newest = store.verdicts(limit=1)[0]
        call = next((each for each in store.verdicts(limit=100) if each.server and each.tool), newest)
        answer = next(iter(store.verdicts(VerdictFilter(kind="answer"), limit=1)), newest)
    server, tool = quote(call.server, safe=""), quote(call.tool or "", safe="")
    now = time.time()
    lists = [
        *("", "?kind=answer", "?failed=1", "?failed=0", "?escalated=1", "?blocked=1", "?outcome=protocol_error"),
        *(
            "?outcome=tool_error",
            "?state=not_found",
            "?model=none",
            "?variant=none",
            "?signal=not_found",
            "?signal=none",
        ),
        *(f"?server={server}&tool={tool}", f"?server={server}&failed=1", "?max_score=0.1", "?min_score=0.9"),
        *("?order=slowest", "?order=lowest_score", "?period=24h&order=slowest", "?period=7d&failed=1", "?period=1h"),
        *(
            "?conversation=none",
            "?order=oldest",
            "?before=2000000",
            "?kind=envelope",
            "?q=catalogue",
            "?q=nothinglikeit",
        ),
    ]
    paths = [
        *("/", "/?period=1h", "/?period=7d", "/?period=30d", "/?period=90d", "/servers", "/tools", "/tools?period=90d"),
        *(f"/server/{server}", f"/tool/{server}/{tool}", f"/server/{server}?period=30d"),
        *(f"/verdicts{each}" for each in lists),
        *("/search?q=catalogue", "/search?q=such%20title%20boo", "/search?q=turn-12345", f"/search?q={quote('本を')}"),
        *("/search?q=cannot%20help&kind=call", f"/search?q=catalogue&server={server}"),
        *(
            f"/verdicts?since={now - 20 * DAY:.0f}&until={now - 15 * DAY:.0f}&failed=1",
            f"/verdicts?tool={tool}&failed=1",
        ),
        *(f"/verdict/{newest.id}", f"/turn/{quote(newest.trace or '')}", f"/verdict/{answer.id}"),
        *("/queue", "/queue?state=done", "/queue?state=all", "/compare", "/assessments", "/events"),
        *("/v1/verdicts?limit=50", "/v1/verdicts?limit=50&failed=true", "/v1/overview", "/healthz"),
    ]
    return dict.fromkeys(paths, "")


def processor_time(pid: int) -> float:
    """The seconds that a process computed."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def pages(url: str) -> None:
    slow = 0
    with served(url) as (process, port, _):
        for path in paths_of(url):
            ask(port, path)
            before = processor_time(process.pid)
            found = [ask(port, path) for _ in range(5)]
            # Beside other programs the clock says more about these than about us.
            busy = (processor_time(process.pid) - before) / len(found) * 1000
            times = sorted(took * 1000 for _, _, took in found)
            status, size = found[0][0], len(found[0][1])
            slow += times[2] > 300
            shown = f"{times[2]:8.0f} ms ({busy:5.0f} of the processor)  {status}  {size / 1024:6.0f} KB  {path}"
            print(shown + ("  <── slow" if times[2] > 300 else ""), flush=True)
    print(f"{slow} pages take longer than 300 ms")


# ── memory ──


def memory_of(pid: int) -> list[str]:
    """Resident and private memory, and threads."""
    text = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="utf-8")
    kib = {
        name: int(value)
        for name, value in re.findall(r"^(Rss|Pss|Private_Dirty|Anonymous): +(\d+)", text, re.MULTILINE)
    }
    threads = len(list(Path(f"/proc/{pid}/task").iterdir()))
    return [f"{kib['Rss'] / 1024:.1f} MiB", f"{kib['Private_Dirty'] / 1024:.1f} MiB", str(threads)]


def memory(python: str = sys.executable) -> None:
    with tempfile.TemporaryDirectory() as folder, served(f"{folder}/verdicts.db", python) as (process, port, took):
        rows = [[f"at the start, {took:.2f} s after it", *memory_of(process.pid), ""]]
        steps = {
            "1,000 answers checked": lambda n: ask(
                port, "/v1/check/answer", {"text": ANSWERS[n % len(ANSWERS)] + f" {n}"}
            ),
            "1,000 results checked": lambda n: ask(
                port,
                "/v1/check/result",
                {"result": {"isError": n % 2 == 0, "content": [{"type": "text", "text": f"Book {n} not found"}]}},
            ),
            "1,000 answers stored": lambda n: ask(
                port,
                "/v1/verdicts",
                {"kind": "answer", "trace_id": f"t{n}", "text": ANSWERS[n % len(ANSWERS)], "verdict": None},
            ),
            "1,000 pages": lambda n: ask(port, ("/", "/verdicts", "/queue", f"/turn/t{n}", "/tools")[n % 5]),
            "2,000 of all, 8 at once": None,
        }
        for name, work in steps.items():
            if work is not None:
                statuses = {work(number)[0] for number in range(1000)}
            else:
                statuses = at_once(list(filter(None, steps.values())))
            rows.append([name, *memory_of(process.pid), ", ".join(map(str, sorted(statuses)))])
            print(*rows[-1], flush=True)
    with Report("dashboard", peers=["starlette", "uvicorn"]) as report:
        report.table("Memory of `toolvet serve`", ["", "resident", "private", "threads", "answered with"], rows)


def at_once(works: list) -> set[int]:  # type: ignore[type-arg]
    statuses: set[int] = set()

    def work(first: int) -> None:
        for number in range(first, 2000, 8):
            statuses.add(works[number % len(works)](number)[0])

    threads = [threading.Thread(target=work, args=(first,)) for first in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return statuses


def main(what: str = "memory", *words: str) -> None:
    if what == "rate":
        rate(words[0], int(words[1] if len(words) > 1 else 2000), float(words[2] if len(words) > 2 else 30))
    elif what == "pages":
        pages(words[0])
    else:
        memory(*words)


if __name__ == "__main__":
    main(*sys.argv[1:])

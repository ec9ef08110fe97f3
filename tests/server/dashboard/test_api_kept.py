"""201 means safe: what was acknowledged is there after `kill -9` of the server right behind the reply."""

import os
import signal
import subprocess
import sys

import httpx2

from toolvet.store import Store


def test_what_was_acknowledged_outlives_the_server(url: str) -> None:
    command = [sys.executable, "-m", "toolvet", "serve", "--port", "0", "--store", url]
    with subprocess.Popen(command, env=os.environ, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        said = process.stderr.readline()
        assert "http://" in said, said
        base = said[said.index("http://") :].split("/ ")[0]
        kept: list[str] = []
        with httpx2.Client(base_url=base, timeout=30) as client:
            for number in range(25):
                body = {"kind": "answer", "trace_id": f"turn-{number}", "text": f"Answer {number}.", "verdict": None}
                reply = client.post("/v1/verdicts", json=body)
                assert reply.status_code == 201
                kept.append(reply.json()["id"])
            process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
    with Store(url) as store:
        found = {verdict.id: verdict for verdict in store.verdicts(limit=1000)}
        assert [found[id_].text for id_ in kept] == [f"Answer {number}." for number in range(25)]
        assert store.count() == 25

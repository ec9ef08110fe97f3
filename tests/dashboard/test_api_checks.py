"""`POST /v1/check/…` gives what the library gives."""

from pathlib import Path

from tests.dashboard.serving import serving

from toolvet import check_answer


def test_an_answer_gets_the_verdict_of_the_library(tmp_path: Path) -> None:
    said = "I cannot help with that request."
    with serving(f"{tmp_path}/a.db") as running, running.client() as client:
        reply = client.post("/v1/check/answer", json={"text": said})
        assert reply.status_code == 200
        assert reply.json()["score"] == check_answer(said).score
        assert reply.json()["should_escalate"] is True

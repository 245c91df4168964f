"""Bodies that would hold up the event loop: what is made of them is made in threads."""

from __future__ import annotations

import asyncio
import json
import threading
from typing import Any

import pytest

pytest.importorskip("prometheus_client")
pytest.importorskip("sqlalchemy")
pytest.importorskip("starlette")

from gateways import ask, says
from openai_harmony import serve
from openai_harmony.interop import chat_completions
from openai_harmony.serve import answers
from openai_harmony.serve.bodies import LARGE
from openai_harmony.serve.gateway import Gateway

RESPONSES = "/v1/responses"


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("size", [10, LARGE])
def test_what_repeats_a_large_body_is_made_in_threads(
    stream: bool, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[bool] = []
    in_threads: list[Any] = []
    replies, in_thread = Gateway._replies, answers.in_thread

    def made(self: Gateway, *given: Any) -> Any:
        threads.append(threading.current_thread() is threading.main_thread())
        return replies(self, *given)

    async def noted(work: Any, *given: Any) -> Any:
        in_threads.append(work)
        return await in_thread(work, *given)

    monkeypatch.setattr(Gateway, "_replies", made)
    monkeypatch.setattr(answers, "in_thread", noted)
    body = {"input": "Hi", "user": "u" * size, "stream": stream}
    answer = asyncio.run(ask(serve.app(says()), RESPONSES, body))
    assert answer.status == 200
    whole = answer.events()[-1]["response"] if stream else answer.json()
    assert (whole["status"], whole["user"]) == ("completed", "u" * size)
    assert threads == [size < LARGE]
    # The first event and the last, and the response.
    assert len(in_threads) == (0 if size < LARGE else 2 if stream else 3)


def test_unknown_fields_are_compared_up_to_a_number() -> None:
    said = [{"role": "user", "content": "Hi"}]
    many = {f"temperatur{at}": 0 for at in range(1000)}
    turn = chat_completions.read(json.dumps({"messages": said, **many}))
    assert len(turn.unused) == 1000
    hints = [one for one in turn.unused if "temperature" in one.reason]
    assert len(hints) == 10  # one letter too many
    turn = chat_completions.read(
        json.dumps({"messages": said, **{f"{'z' * 9}{at}": 0 for at in range(64)}, "tol_choice": 1})
    )
    assert not [one for one in turn.unused if "tool_choice" in one.reason]

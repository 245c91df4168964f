"""Errors as the APIs write them: the fields that their clients read."""

from __future__ import annotations

import json
import pickle
from typing import Any, get_args

import pytest

from openai_harmony import (
    ErrorKind,
    HarmonyEncoding,
    HarmonyError,
    InvalidRequestError,
    training,
)
from openai_harmony.interop import (
    TokenLogprob,
    anthropic,
    chat_completions,
    error_body,
    ollama,
    responses,
)
from openai_harmony.rollout import Rollout

READERS: dict[Any, Any] = {
    "chat_completions": chat_completions,
    "responses": responses,
    "anthropic": anthropic,
    "ollama": ollama,
}


def refused(api: Any, body: Any) -> InvalidRequestError:
    with pytest.raises(InvalidRequestError) as raised:
        READERS[api].read(body)
    return raised.value


@pytest.mark.parametrize("api", ["chat_completions", "responses"])
def test_openai(api: Any) -> None:
    error = refused(api, {"messages" if api == "chat_completions" else "input": [{"role": 3}]})
    status, body = error_body(api, error)
    assert status == 400
    assert body["error"] == {
        "message": str(error),
        "type": "invalid_request_error",
        "param": error.path,
        "code": None,
    }
    assert error.path in ("messages[0].role", "input[0].content")
    assert error_body(api, "slow down", 429).body["error"]["type"] == "rate_limit_error"
    assert error_body(api, "no engine", 503).body["error"]["type"] == "server_error"


def test_anthropic() -> None:
    error = refused("anthropic", {"max_tokens": 1, "messages": [{"role": "user"}]})
    status, body = error_body("anthropic", error)
    expected = {"type": "invalid_request_error", "message": str(error)}
    assert (status, body) == (400, {"type": "error", "error": expected})
    kinds = {
        401: "authentication_error",
        403: "permission_error",
        404: "not_found_error",
        413: "request_too_large",
        429: "rate_limit_error",
        500: "api_error",
        503: "overloaded_error",
        504: "timeout_error",
    }
    for number, kind in kinds.items():
        assert error_body("anthropic", "x", number).body["error"]["type"] == kind


def test_a_thread_is_refused_so_that_the_client_goes_on_without() -> None:
    body = {"max_tokens": 1, "messages": [{"role": "user", "content": "Hi"}], "thread": {"x": 1}}
    error = refused("anthropic", body)
    assert (error.kind, error.path) == ("unsupported_field", "thread")
    assert error.code == "thread_unsupported_request"
    status, answer = error_body("anthropic", error)
    assert status == 400
    assert answer["error"]["details"] == {"error_code": "thread_unsupported_request"}
    again = pickle.loads(pickle.dumps(error))
    assert (again.code, again.path, str(again)) == (error.code, error.path, str(error))
    anthropic.read({**body, "thread": None})


def test_ollama() -> None:
    error = refused("ollama", {"messages": 3})
    assert error_body("ollama", error) == (400, {"error": str(error)})


def test_any_error() -> None:
    assert error_body("responses", HarmonyError("broken", "invalid_schema")).status == 400
    assert error_body("responses", ValueError("wrong")).status == 400
    assert error_body("responses", OSError("gone")).status == 500
    hostile = '</script>"\n\x00'
    assert (
        json.loads(json.dumps(error_body("anthropic", hostile).body))["error"]["message"] == hostile
    )
    with pytest.raises(ValueError, match='^Unknown API "chat" \\(known: chat_completions, '):
        error_body("chat", "x")  # type: ignore[arg-type]


def test_only_a_request_is_answered_with_400() -> None:
    kinds = get_args(ErrorKind)
    failed = {kind for kind in kinds if error_body("ollama", HarmonyError("x", kind)).status == 500}
    assert failed == {
        "invalid_logprobs",
        "invalid_rollout",
        "invalid_row",
        "invalid_state",
        "nothing_to_train",
        "too_many_tokens",
    }


def test_a_bad_row_is_no_bad_request() -> None:
    [(_, error)] = training.render([{"messages": []}], format="chat").errors
    assert not isinstance(error, InvalidRequestError)
    assert (error.kind, error.path) == ("invalid_row", "messages")
    assert error_body("responses", error).status == 500


def test_whatever_has_a_place_says_which(encoding: HarmonyEncoding) -> None:
    turn = chat_completions.read(
        {"messages": [{"role": "user", "content": "Hi"}], "logprobs": True}
    )
    with pytest.raises(HarmonyError) as raised:
        turn.reply(encoding, model="m").feed([1], [TokenLogprob(float("nan"))])
    assert (raised.value.kind, raised.value.path) == ("invalid_logprobs", "logprobs[0].logprob")
    assert pickle.loads(pickle.dumps(raised.value)).path == "logprobs[0].logprob"
    with pytest.raises(HarmonyError) as raised:
        Rollout(turn, encoding).sampled([])
    assert (raised.value.kind, raised.value.path) == ("invalid_rollout", "sampled")
    with pytest.raises(HarmonyError) as raised:
        encoding.decode([999_999])
    assert raised.value.path is None

"""Who is let in to which path of the gateway, by which method, and what those get who are not."""

from __future__ import annotations

import asyncio
import itertools
import re
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("aiohttp")
pytest.importorskip("prometheus_client")
pytest.importorskip("sqlalchemy")
pytest.importorskip("starlette")


import fake_engines
from fake_engines import running
from gateways import BODIES, HELLO, Answer, ask, says, tokens
from openai_harmony import serve
from openai_harmony.serve.engines import EngineError
from tables import table

CHAT, RESPONSES, ANTHROPIC, OLLAMA, GENERATE = BODIES
POSTED = {
    *BODIES,
    f"{ANTHROPIC}/count_tokens",
    f"{RESPONSES}/input_tokens",
    f"{RESPONSES}/x/cancel",
    "/api/show",
    "/v1/completions",
    "/inference/v1/generate",
    "/inference/v1/abort_requests",
    f"{CHAT}/render",
    *(f"{CHAT}/tokens", "/tokenize", "/detokenize"),
}
GOT = {
    *("/", "/health", "/ready", "/live", "/metrics", "/openapi.json", "/v1/models"),
    *("/v1/models/a/b", f"{RESPONSES}/x", f"{RESPONSES}/x/input_items"),
    *("/api/tags", "/api/ps", "/api/version", "/tokenizer_info"),
}
OPEN = {"/", "/health", "/ready", "/live"}
"""What needs no key, by operate.md; `/` is asked by Ollama's clients."""


def asked(
    app: Any, path: str, body: Any = None, method: str | None = None, **headers: str
) -> Answer:
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    return asyncio.run(ask(app, path, body, method=method, headers=given))


@pytest.mark.parametrize("path", sorted(POSTED | GOT))
def test_each_path_has_its_methods(path: str) -> None:
    """All others are refused, and the answer names those that there are."""
    allowed = {"POST"} if path in POSTED else {"GET", "HEAD"}
    if path in (f"{RESPONSES}/x", f"{RESPONSES}/input_tokens"):
        allowed |= {"GET", "HEAD", "DELETE"}  # of the response with this id
    for method in ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"):
        answer = asked(serve.app(says()), path, {"x": 1}, method)
        assert (answer.status == 405) == (method not in allowed)
        if answer.status == 405 and method != "HEAD":
            assert set(answer.headers["allow"].split(", ")) <= {*allowed, "HEAD"}
            assert f"no such method: {method} {path}" in answer.body.decode()
            assert b"did you mean" not in answer.body


@pytest.mark.parametrize("path", sorted(POSTED | GOT))
@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
def test_which_paths_need_a_key(path: str, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARMONY_API_KEYS", "alpha")
    app = serve.app(says())
    assert (asked(app, path, {}, method).status != 401) == (path in OPEN)
    assert asked(app, path, {}, method, authorization="Bearer alpha").status != 401


@pytest.mark.parametrize(
    ("given", "is_let_in"),
    table("serve_door", "forms of a key"),
)
def test_forms_of_a_key(given: str, is_let_in: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARMONY_API_KEYS", "alpha")
    answer = asked(serve.app(says()), "/v1/models", authorization=given)
    assert answer.status == (200 if is_let_in else 401)


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost", "0.0.0.0"])
@pytest.mark.parametrize("anonymous", [False, True])
@pytest.mark.parametrize("keys", [False, True])
def test_names_under_which_it_is_asked(
    host: str, anonymous: bool, keys: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others are refused where only this machine may ask, and nothing else keeps pages out."""
    monkeypatch.setenv("HARMONY_API_KEYS", "alpha" if keys else "")
    if host == "0.0.0.0" and not keys and not anonymous:
        return  # refused: `test_other_machines_need_keys`
    app = serve.app(says(), host=host, allow_anonymous=anonymous)
    status = 403 if host != "0.0.0.0" and not keys else 200
    for name, value in (("host", "a.example"), ("origin", "https://a.example")):
        answer = asked(app, "/v1/models", **{name: value, "x-api-key": "alpha"})
        assert answer.status == status
    assert asked(app, "/v1/models", host="localhost", x_api_key="alpha").status == 200


@pytest.mark.parametrize(
    ("cors", "allowed"),
    [(None, False), ("*", True), ("https://a.example", True), ("https://b.example", False)],
)
def test_pages_of_another_site(cors: str | None, allowed: bool) -> None:
    app, page = serve.app(says(), cors=cors), {"origin": "https://a.example"}
    assert asked(app, CHAT, BODIES[CHAT], **page).status == (200 if allowed else 403)
    before = asked(app, CHAT, method="OPTIONS", access_control_request_method="POST", **page)
    assert ("access-control-allow-origin" in before.headers) is allowed
    # Without the setting there is nobody to ask, not even for pages of this machine.
    page = {"origin": "http://localhost:3000"}
    before = asked(app, CHAT, method="OPTIONS", access_control_request_method="POST", **page)
    assert before.status == {None: 405, "*": 200}.get(cors, 400)


def test_more_than_one_host() -> None:
    async def run(names: list[bytes]) -> int:
        sent: list[Any] = []

        async def send(message: Any) -> None:
            sent.append(message)

        headers = [(b"host", name) for name in names]
        scope = {"type": "http", "method": "GET", "path": "/live", "headers": headers}
        await serve.app(says())({**scope, "query_string": b""}, None, send)  # type: ignore[arg-type]
        return int(sent[0]["status"])

    for count, status in ((0, 200), (1, 200), (2, 400), (3, 400)):
        assert asyncio.run(run([b"localhost"] * count)) == status


def test_what_the_engine_answers_itself() -> None:
    paths = fake_engines.vllm(tokens(HELLO))
    paths["/inference/v1/abort_requests"] = lambda body: [b"{}"]

    async def run() -> None:
        async with running(paths) as fake:
            app = serve.app(f"vllm={fake.url}")
            for path, body in (
                (
                    "/inference/v1/generate",
                    {"token_ids": [1], "sampling_params": {"max_tokens": 3}},
                ),
                ("/inference/v1/abort_requests", {"request_ids": ["x"]}),
            ):
                answer = await ask(app, path, body)
                assert (answer.status, fake.asked[-1]) == (200, (path, body))
            await app.state.gateway.engine.aclose()

    asyncio.run(run())


@pytest.mark.parametrize("path", [OLLAMA, GENERATE, "/api/show"])
def test_the_name_by_which_a_model_is_asked(path: str) -> None:
    for body, name in (
        ({"model": "m"}, "m"),
        ({"name": "n"}, "n"),
        ({"model": "m", "name": "n"}, "m"),
        ({"model": "", "name": "n"}, "n"),
        ({}, "gpt-oss-test"),
    ):
        found = asked(serve.app(says()), path, body).json()
        named = found["model_info"]["general.basename"] if path == "/api/show" else found["model"]
        assert named == name


def test_models() -> None:
    one = {
        "id": "gpt-oss-test",
        "object": "model",
        "created": 0,
        "owned_by": "openai-harmony",
        "max_model_len": 131_072,
        "type": "model",
        "display_name": "gpt-oss-test",
        "created_at": "1970-01-01T00:00:00Z",
    }
    same = {"first_id": "gpt-oss-test", "last_id": "gpt-oss-test", "has_more": False}
    assert asked(serve.app(says()), "/v1/models").json() == {
        "object": "list",
        "data": [one],
        **same,
    }
    assert asked(serve.app(says()), "/v1/models/gpt-oss-test").json() == one
    nameless = asked(serve.app(says()), "/v1/models/")
    assert nameless.status == 404
    assert nameless.json()["error"]["message"] == "the model has no name"


def test_whether_the_next_request_is_answered() -> None:
    """What monitoring reads: the reason, or that all is well."""
    for fails, status, said in ((False, 200, b"ready"), (True, 503, b"the engine does not answer")):
        engine = says()
        if fails:
            engine.check = failing  # type: ignore[method-assign]
        app = serve.app(engine)
        answer = asked(app, "/ready")
        assert (answer.status, answer.body) == (status, said)
        found = asked(app, "/health")
        assert (found.status, found.json()["status"]) == (status, "unavailable" if fails else "ok")
        assert found.json().get("error") == (said.decode() if fails else None)
        assert (asked(app, "/live").status, asked(app, "/live").body) == (200, b"live")
        app.state.gateway.is_draining = True
        answer = asked(app, "/ready")
        assert (answer.status, answer.body) == (503, b"the server ends")


async def failing() -> None:
    raise EngineError("away")


def test_a_fault_of_the_server_has_a_form_too() -> None:
    engine, sent, path = says(), [], "/health"
    app = serve.app(engine)

    async def broken() -> None:
        raise RuntimeError("a bug, with contents")

    engine.check = broken  # type: ignore[method-assign]

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "GET", "path": path, "headers": [], "query_string": b""}
    # It is raised, too: the server below logs it.
    with pytest.raises(RuntimeError, match="a bug"):
        asyncio.run(app(scope, None, send))  # type: ignore[arg-type]
    assert sent[0]["status"] == 500
    assert b"the server failed; its log says how" in sent[1]["body"]


@pytest.mark.parametrize("path", BODIES)
def test_only_anthropics_errors_have_an_id_of_their_own(path: str) -> None:
    answer = asked(serve.app(says()), path, {"messages": 5, "input": 5, "prompt": 5})
    assert answer.status == 400
    assert answer.headers.get("request-id", "").startswith("req_") == (path == ANTHROPIC)
    assert "retry-after" not in answer.headers


def test_the_description() -> None:
    found = asked(serve.app(says()), "/openapi.json").json()
    assert (found["openapi"], found["info"]["title"]) == ("3.1.0", "openai-harmony")
    paths = found["paths"]
    assert paths[CHAT] == {
        "post": {
            "summary": "POST /v1/chat/completions.",
            "responses": {"200": {"description": "The answer."}},
        }
    }
    string = {"in": "path", "required": True, "schema": {"type": "string"}}
    for path, name in (("/v1/models/{name}", "name"), (f"{RESPONSES}/{{identity}}", "identity")):
        assert paths[path]["get"]["parameters"] == [{"name": name, **string}]
    assert set(paths[f"{RESPONSES}/{{identity}}"]) == {"get", "delete"}
    described = {path.replace("{identity}", "x").replace("{name}", "a/b") for path in paths}
    missing = (POSTED | GOT) - {"/openapi.json"} - described
    assert not missing
    ways = itertools.chain.from_iterable(one.values() for one in paths.values())
    assert all("`" not in way["summary"] and way["summary"].endswith(".") for way in ways)


def test_each_route_stands_in_the_document() -> None:
    operate = (Path(__file__).parents[2] / "docs" / "operate.md").read_text()
    table = operate.partition("## Which APIs?")[2].partition("\n## ")[0]
    named = {"/v1/models/{name}": "/v1/models/NAME"}
    for path in asked(serve.app(says()), "/openapi.json").json()["paths"]:
        written = named.get(path, path.replace("{identity}", "ID"))
        assert re.search(rf"[` ]{re.escape(written)}`", table), written


def test_only_rendering_is_open_to_strangers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it is allowed; not what has its name at the end."""
    monkeypatch.setenv("HARMONY_API_KEYS", "alpha")
    app = serve.app(says(), allow_anonymous_render=True)
    given = {"content_type": "application/json"}
    assert asked(app, f"{CHAT}/render", BODIES[CHAT], **given).status == 200
    for path in ("/v1/models/x/render", "/v1/responses/render", "/x/render"):
        assert asked(app, path).status == 401


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "starlette", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install '.*\[serve\]'"):
        serve.app(says())


def test_what_is_no_request_is_passed_on() -> None:
    """To the routes, which have no websockets: it is closed, also where keys are asked for."""
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        sent.append(message["type"])

    scope: Any = {"type": "websocket", "path": CHAT, "headers": [], "query_string": b""}
    asyncio.run(serve.app(says())(scope, receive, send))
    assert sent == ["websocket.close"]

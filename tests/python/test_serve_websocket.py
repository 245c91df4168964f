"""Responses over a WebSocket: the events of `POST /v1/responses`, lanes, steering, keys and the server's end."""

from __future__ import annotations

import asyncio
import json
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("websockets", reason="the extra serve installs websockets")

from openai import OpenAI
from openai.types.responses import ResponsesServerEvent
from pydantic import TypeAdapter
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.frames import Frame, Opcode
from websockets.sync.client import ClientConnection, connect

from gateways import says
from openai_harmony import serve
from recorded import CALL, FINAL, THOUGHT
from running_gateways import command

RECORDS = [
    {"match": "RESULT", "text": FINAL.format("Done.")},
    {"match": "Then this", "text": FINAL.format("Both.")},
    {"match": "Call", "text": CALL.format("f", "{}"), "delay": 0.1},
    {"match": "Slow", "text": FINAL.format("word " * 400), "delay": 0.01},
    {"match": "Hello", "text": THOUGHT.format("Hm.") + FINAL.format("Hi.")},
]
EVENT = TypeAdapter[Any](ResponsesServerEvent)
TOOLS = [{"type": "function", "name": "f", "parameters": {"type": "object"}}]


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("records") / "recorded.jsonl"
    file.write_text("\n".join(map(json.dumps, RECORDS)))
    return file


@pytest.fixture(scope="module")
def url(records: Path) -> Iterator[str]:
    with command("--engine", f"replay={records}") as (url, _):
        yield url


def socket(url: str, **options: Any) -> ClientConnection:
    found: ClientConnection = connect(f"{url.replace('http', 'ws', 1)}/v1/responses", **options)
    return found


def create(connection: ClientConnection, said: Any, **more: Any) -> None:
    connection.send(json.dumps({"type": "response.create", "input": said, **more}))


def received(
    connection: ClientConnection, last: str = "response.completed"
) -> list[dict[str, Any]]:
    """The events up to and with one of this type; each is one of the SDK's."""
    events: list[dict[str, Any]] = []
    while not events or events[-1]["type"] != last:
        events.append(json.loads(connection.recv(60)))
        EVENT.validate_python(events[-1])
    return events


def test_the_events_are_those_of_a_stream(url: str) -> None:
    client = OpenAI(base_url=f"{url}/v1", api_key="k")
    streamed = [
        event.type for event in client.responses.create(model="m", input="Hello", stream=True)
    ]
    with socket(url) as connection:
        create(connection, "Hello")
        events = received(connection)
    assert [event["type"] for event in events] == streamed
    assert events[-1]["response"]["output"][-1]["content"][0]["text"] == "Hi."


@pytest.mark.filterwarnings("ignore:connect:DeprecationWarning")  # it is for older websockets
def test_the_sdk_can_use_it(url: str) -> None:
    client = OpenAI(base_url=f"{url}/v1", api_key="k")
    with client.responses.connect() as connection:
        connection.response.create(model="m", input="Hello")
        kinds: list[str] = []
        for event in connection:
            kinds.append(event.type)
            if event.type == "response.completed":
                break
    assert kinds[0] == "response.created"


def test_a_connection_knows_its_own_responses(url: str) -> None:
    with socket(url) as connection:
        create(connection, "Call", tools=TOOLS)
        response = received(connection)[-1]["response"]
        [call] = (item for item in response["output"] if item["type"] == "function_call")
        result = {"type": "function_call_output", "call_id": call["call_id"], "output": "RESULT"}
        create(connection, [result], previous_response_id=response["id"], tools=TOOLS)
        answered = received(connection)[-1]["response"]
        assert answered["output"][-1]["content"][0]["text"] == "Done."
        assert answered["previous_response_id"] == response["id"]
        create(connection, "Hello", generate=False)
        warmed = received(connection)[-1]["response"]
        assert warmed["output"] == []
    with socket(url) as connection:
        create(connection, "x", previous_response_id=response["id"])
        [error] = received(connection, "error")
        assert (error["status"], error["error"]["param"]) == (400, "previous_response_id")


def test_lanes(url: str) -> None:
    with socket(url) as connection:
        for lane in ("a", "b", "a"):
            create(connection, "Slow" if lane == "a" else "Hello", stream_id=lane)
        ends: list[str] = []
        while len(ends) < 3:
            event = json.loads(connection.recv(60))
            if event["type"] == "response.completed":
                ends.append(event["stream_id"])
    assert ends == ["b", "a", "a"]


def test_messages_that_come_together_count_once(records: Path) -> None:
    """There is room for one large message, and only one is large."""
    events = (
        {"type": "response.create", "input": said + "x" * size, "stream_id": f"{said} {size}"}
        for said, size in (("Slow", 15_000), ("Hello", 39_000), ("Hello", 10))
    )
    frames = [Frame(Opcode.TEXT, json.dumps(event).encode()) for event in events]
    given = ("--engine", f"replay={records}", "--max-bodies", "90000")
    with command(*given) as (url, _), socket(url) as connection:
        connection.socket.sendall(b"".join(frame.serialize(mask=True) for frame in frames))
        ended = {received(connection)[-1]["stream_id"] for _ in range(2)}
    assert ended == {"Hello 39000", "Hello 10"}


def test_what_counts_of_a_message_are_its_frames(records: Path) -> None:
    """Headers of frames count, pings do not."""
    options = ("--max-bodies", "40000", "--body-timeout", "1")
    with command("--engine", f"replay={records}", *options) as (url, _), socket(url) as connection:
        connection.socket.sendall(Frame(Opcode.PING, b"").serialize(mask=True) * 7000)
        time.sleep(1.5)
        create(connection, "Hello")
        received(connection)
        first, piece = (
            Frame(kind, b" ", fin=False).serialize(mask=True) for kind in (Opcode.TEXT, Opcode.CONT)
        )
        connection.socket.sendall(first + piece * 10_000)
        with pytest.raises(ConnectionClosed):
            connection.recv(60)
        assert connection.protocol.close_code == 1013


def test_a_message_whose_reading_is_cancelled() -> None:
    """The message's bytes no longer count against `max-bodies`."""
    app = serve.app(says())
    message = {"type": "websocket.receive", "text": json.dumps({"input": "x" * 9_000_000})}

    async def cancels() -> None:
        scope: Any = {"type": "websocket", "path": "/v1/responses", "headers": [], "state": {}}
        is_asked, is_given = False, asyncio.Event()

        async def receive() -> dict[str, Any]:
            nonlocal is_asked
            if not is_asked:
                is_asked = True
                return {"type": "websocket.connect"}
            assert scope["state"]["arrives"](len(message["text"]))
            scope["state"]["arrived"]()
            is_given.set()
            return message

        async def send(event: dict[str, Any]) -> None:
            assert event["type"] == "websocket.accept"

        answering = asyncio.create_task(app(scope, receive, send))
        await is_given.wait()
        assert app.state.gateway.bodies.held == len(message["text"])
        answering.cancel()
        with pytest.raises(asyncio.CancelledError):
            await answering

    asyncio.run(cancels())
    assert app.state.gateway.bodies.held == 0


def test_what_is_no_event(url: str) -> None:
    with socket(url) as connection:
        lane = json.dumps({"type": "response.create", "stream_id": "x" * 129, "input": "Hello"})
        for text, status in [("{", 400), ('{"type": "x"}', 400), ("[]", 400), (lane, 400)]:
            connection.send(text)
            [error] = received(connection, "error")
            assert error["status"] == status
        create(connection, "Hello", temperature="hot", stream_id="a")
        [error] = received(connection, "error")
        assert (error["status"], error["error"]["param"]) == (400, "temperature")
        assert error["stream_id"] == "a"
        create(connection, "Hello")
        received(connection)


def test_steering(url: str) -> None:
    with socket(url) as connection:
        create(connection, "Slow")
        first = received(connection, "response.created")[-1]["response"]["id"]

        def steer(identity: str, said: Any) -> None:
            event = {"type": "response.steer", "previous_response_id": identity, "input": said}
            connection.send(json.dumps(event))

        steer(first, "Then this")
        steer(first, [{"type": "message", "role": "user", "content": "x", "id": "more"}])
        steer("resp_x", "Then this")
        events = received(connection)
        accepted, *failed = (
            event for event in events if event["type"].startswith("response.steer")
        )
        assert accepted["steer"]["previous_response_id"] == first
        assert [event["error"]["code"] for event in failed] == [
            "invalid_input",
            "response_not_found",
        ]
        assert failed[1]["steer"]["input"] == "Then this"
        after = received(connection)[-1]["response"]
        assert after["previous_response_id"] == first
        assert after["output"][-1]["content"][0]["text"] == "Both."


def test_steering_waits_for_the_results_of_calls(url: str) -> None:
    with socket(url) as connection:
        create(connection, "Call", tools=TOOLS)
        identity = received(connection, "response.created")[-1]["response"]["id"]
        event = {"type": "response.steer", "previous_response_id": identity, "input": "Then this"}
        connection.send(json.dumps(event))
        received(connection, "response.steer.accepted")
        pending = received(connection, "response.steer.pending")[-1]
        [stub] = pending["required_input"]
        assert (stub["type"], stub["name"]) == ("function_call_output", "f")
        create(connection, [{**stub, "output": "x"}], previous_response_id=identity, tools=TOOLS)
        [message] = received(connection)[-1]["response"]["output"]
        assert message["content"][0]["text"] == "Both."


def test_keys_and_pages(records: Path, url: str, tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    keys.write_text("sk-one\n")
    with command("--engine", f"replay={records}", "--api-key-file", str(keys)) as (closed, _):
        with pytest.raises(InvalidStatus, match="401"):
            socket(closed)
        with socket(closed, additional_headers={"Authorization": "Bearer sk-one"}) as connection:
            create(connection, "Hello")
            received(connection)
    with pytest.raises(InvalidStatus, match="403"):
        socket(url, origin="https://elsewhere.example")


def test_a_server_that_ends_answers_first(records: Path) -> None:
    with command("--engine", f"replay={records}", "--drain-timeout", "60") as (url, process):
        with socket(url) as connection:
            create(connection, "Slow")
            received(connection, "response.created")
            process.send_signal(signal.SIGTERM)
            assert received(connection)[-1]["response"]["status"] == "completed"
            with pytest.raises(ConnectionClosed) as closed:
                connection.recv(60)
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 1012
        assert process.wait(60) == 0

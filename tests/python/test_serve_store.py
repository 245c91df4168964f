"""What the gateway keeps: responses by their ids, in one database for all processes."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sqlalchemy")
pytest.importorskip("prometheus_client")
pytest.importorskip("starlette")

import sqlalchemy

from databases import postgresql
from gateways import ENCODING, Answer, ask, says
from openai_harmony import serve
from openai_harmony.interop import Body, responses
from openai_harmony.serve.items import input_of
from openai_harmony.serve.refusals import RefusedError, StoreError
from openai_harmony.serve.store import Store

PATH = "/v1/responses"
MOST = 2**20
CALL = '<|channel|>commentary to=functions.f <|constrain|>json<|message|>{"x":1}<|call|>'
FUNCTION = {"type": "function", "name": "f", "parameters": {"type": "object"}}


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with postgresql() as (address, _):
        yield address


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return str(tmp_path / "responses.sqlite")
    address: str = request.getfixturevalue("server")
    engine = sqlalchemy.create_engine(address)
    with engine.begin() as connection:
        connection.execute(sqlalchemy.text("DROP TABLE IF EXISTS harmony_responses, harmony_items"))
    engine.dispose()
    return address


Start = Callable[..., Any]


@pytest.fixture
def start() -> Iterator[Start]:
    """Makes applications, and closes what they have open."""
    made = []

    def app(*arguments: Any, **named: Any) -> Any:
        made.append(serve.app(*arguments, **named))
        return made[-1]

    yield app
    for one in made:
        if one.state.store is not None:
            one.state.store.close()


def of(app: Any, body: dict[str, Any] | None, path: str = PATH, **options: Any) -> Answer:
    return asyncio.run(ask(app, path, body, **options))


def test_is_retrieved_and_deleted(
    url: str, start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    app = start(says(), store=url)
    made = of(app, {"input": "Hello", "metadata": {"a": "\u0000b\ud800"}}).json()
    assert made["store"] is True
    assert of(app, None, f"{PATH}/{made['id']}").json() == made
    listed = of(app, None, f"{PATH}/{made['id']}/input_items").json()
    [item] = listed["data"]
    assert item["content"] == [{"type": "input_text", "text": "Hello"}]
    assert (listed["first_id"], listed["last_id"], listed["has_more"]) == (
        item["id"],
        item["id"],
        False,
    )
    deleted = of(app, None, f"{PATH}/{made['id']}", method="DELETE")
    assert deleted.json() == {"id": made["id"], "object": "response", "deleted": True}
    for method in ("GET", "DELETE"):
        gone = of(app, None, f"{PATH}/{made['id']}", method=method)
        assert (gone.status, gone.json()["error"]["type"]) == (404, "invalid_request_error")
    assert of(app, None, f"{PATH}/{made['id']}/input_items").status == 404
    assert "://" not in url or not [*tmp_path.iterdir()]  # no file of the database's name


def test_goes_on_in_another_process(url: str, start: Start) -> None:
    first, second = says(CALL), says()
    one, two = start(first, store=url), start(second, store=url)
    asked = {"input": "Call f.", "tools": [FUNCTION], "instructions": "Only now."}
    made = of(one, {**asked, "stream": True}).events()[-1]["response"]
    [call] = made["output"]
    result = {"type": "function_call_output", "call_id": call["call_id"], "output": "42"}
    more = {"input": [result], "tools": [FUNCTION], "previous_response_id": made["id"]}
    answer = of(two, more).json()
    assert answer["output"][-1]["content"][0]["text"] == "Hi there."
    prompt = ENCODING.decode(second.asked[0].prompt)
    assert "Only now." not in prompt
    assert prompt.index("Call f.") < prompt.index('{"x":1}') < prompt.index("42")
    third = {"input": "And?", "previous_response_id": answer["id"]}
    assert of(one, third).status == 200
    assert "Call f." in ENCODING.decode(first.asked[-1].prompt)


def test_two_clients_with_one_id(url: str, start: Start) -> None:
    engine = says()
    app = start(engine, store=url)
    made = of(app, {"input": "Hello"}).json()

    async def both() -> list[Answer]:
        bodies = [{"input": text, "previous_response_id": made["id"]} for text in "ABCDEFGH"]
        return await asyncio.gather(*(ask(app, PATH, body) for body in bodies))

    answers = [answer.json() for answer in asyncio.run(both())]
    assert len({answer["id"] for answer in answers}) == 8
    for answer in answers:
        assert of(app, None, f"{PATH}/{answer['id']}").json() == answer


def test_items_are_found_by_their_ids(url: str, start: Start) -> None:
    engine = says()
    app = start(engine, store=url)
    made = of(app, {"input": "Hello"}).json()
    message = made["output"][-1]
    reference = {"type": "item_reference", "id": message["id"]}
    body = {
        "input": [{"role": "user", "content": "Again"}, reference, {"role": "user", "content": "X"}]
    }
    answer = of(app, body)
    assert answer.status == 200, answer.body
    assert (
        "Again<|end|><|start|>assistant<|channel|>final<|message|>Hi there.<|"
        in ENCODING.decode(engine.asked[-1].prompt)
    )
    # What refers to an item is not taken for the item.
    assert of(app, body).status == 200
    # What was referred to is there for those who go on, too.
    more = {"input": "Y", "previous_response_id": answer.json()["id"]}
    assert of(app, more).status == 200
    of(app, None, f"{PATH}/{made['id']}", method="DELETE")
    assert of(app, body).status == 400


@pytest.mark.parametrize(
    ("options", "status"), [({"max_body": 100_000}, 413), ({"max_bodies": 150_000}, 429)]
)
def test_what_small_bodies_refer_to_counts(
    url: str, start: Start, options: dict[str, int], status: int
) -> None:
    """A chain, and one item that is named often, are as large as a body may be, or all of them."""
    text = "x " * 30_000
    app = start(says(), store=url, **options)
    first = of(app, {"input": text}).json()
    asked = {"input": text, "previous_response_id": first["id"]}
    second = of(app, asked).json()
    [item] = of(app, None, f"{PATH}/{first['id']}/input_items").json()["data"]
    named = [{"type": "item_reference", "id": item["id"]}] * 3
    follows = {**asked, "previous_response_id": second["id"]}
    for body in ({"input": named}, follows):
        refused = of(app, body)
        assert refused.status == status, refused.body[:300]
    assert of(app, {"input": named[:1]}).status == 200


def test_a_deleted_response_is_not_gone_on_from(url: str, start: Start) -> None:
    app = start(says(), store=url)
    first = of(app, {"input": "SECRET"}).json()
    second = of(app, {"input": "B", "previous_response_id": first["id"]}).json()
    of(app, None, f"{PATH}/{first['id']}", method="DELETE")
    for previous, said in ((first, "is stored"), (second, f"follows '{first['id']}'")):
        refused = of(app, {"input": "C", "previous_response_id": previous["id"]})
        assert refused.status == 400
        error = refused.json()["error"]
        assert (error["param"], error["code"]) == (
            "previous_response_id",
            "previous_response_not_found",
        )
        assert said in error["message"]
    if "://" not in url:
        assert b"SECRET" not in Path(url).read_bytes() + Path(f"{url}-wal").read_bytes()


def test_pages_of_input_items(url: str, start: Start) -> None:
    app = start(says(), store=url)
    items = [{"id": f"msg_{at}", "role": "user", "content": str(at)} for at in range(5)]
    made = of(app, {"input": items}).json()
    path = f"{PATH}/{made['id']}/input_items"

    def ids(query: str) -> list[str]:
        return [item["id"][4:] for item in of(app, None, f"{path}?{query}").json()["data"]]

    assert ids("") == ["4", "3", "2", "1", "0"]
    assert ids("order=asc&limit=2") == ["0", "1"]
    assert ids("order=asc&limit=2&after=msg_1") == ["2", "3"]
    assert of(app, None, f"{path}?limit=2").json()["has_more"] is True
    assert (ids("limit=1"), ids("limit=100")) == (["4"], ["4", "3", "2", "1", "0"])
    empty = {"object": "list", "data": [], "first_id": None, "last_id": None, "has_more": False}
    assert of(app, None, f"{path}?after=msg_0").json() == empty
    for query in (
        "limit=0",
        "limit=101",
        "limit=x",
        "limit=" + "1" * 5000,
        "order=up",
        "after=msg_9",
    ):
        refused = of(app, None, f"{path}?{query}")
        assert (refused.status, refused.json()["error"]["param"]) == (400, query.partition("=")[0])
    # A stored response is no stream; some clients say so.
    assert of(app, None, f"{PATH}/{made['id']}?stream=false").json() == made
    refused = of(app, None, f"{PATH}/{made['id']}?stream=true")
    assert (refused.status, refused.json()["error"]["param"]) == (400, "stream")


def test_input_items_have_what_clients_leave_out(url: str, start: Start) -> None:
    app = start(says(), store=url)
    call = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
    first = of(app, {"input": "Hello"}).json()
    reference = {"id": first["output"][-1]["id"]}
    items = [
        reference,
        {**reference, "type": "item_reference"},
        {"role": "user", "content": "As it is"},
        {
            "role": "user",
            "content": [{"type": "text", "text": "B"}, {"type": "input_text", "text": "C"}],
        },
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]},
        {"role": "assistant", "content": "D"},
        {"type": "message", "role": "assistant", "status": "incomplete", "content": []},
        call,
        {"type": "function_call_output", "call_id": "c", "output": "E"},
    ]
    made = of(app, {"input": items, "tools": [FUNCTION]}).json()
    listed = of(app, None, f"{PATH}/{made['id']}/input_items?order=asc").json()["data"]
    assert [listed.pop(0), listed.pop(0)] == [items[1], items[1]]
    del items[:2]
    prefixes = [item.pop("id").split("_")[0] for item in listed]
    assert prefixes == ["msg", "msg", "msg", "msg", "msg", "fc", "fc"]
    message = {"type": "message", "status": "completed"}
    said = [{"type": "input_text", "text": text} for text in ("As it is", "B", "C")]
    answered = [{"annotations": [], "type": "output_text", "text": "D"}]
    assert listed == [
        {**message, "role": "user", "content": said[:1]},
        {**message, "role": "user", "content": said[1:]},
        {**message, **items[2]},
        {**message, "role": "assistant", "content": answered},
        {**message, "role": "assistant", "status": "incomplete", "content": []},
        {**call, "status": "completed"},
        {**items[-1], "status": "completed"},
    ]


def test_keys_see_their_own(tmp_path: Path, start: Start) -> None:
    keys = tmp_path / "keys"
    keys.write_text("# of the team\nalpha name=a\n\nbeta\nalpha2 name=a\n")
    app = start(says(), store=str(tmp_path / "s.sqlite"), api_key_file=str(keys))
    alpha, beta, newer = ({"x-api-key": key} for key in ("alpha", "beta", "alpha2"))
    made = of(app, {"input": "Hello"}, headers=alpha).json()
    for own in (alpha, newer):  # a new key of the same name
        assert of(app, None, f"{PATH}/{made['id']}", headers=own).status == 200
    assert of(app, None, f"{PATH}/{made['id']}", headers=beta).status == 404
    assert of(app, None, f"{PATH}/{made['id']}", headers=beta, method="DELETE").status == 404
    more = {"input": "X", "previous_response_id": made["id"]}
    assert of(app, more, headers=beta).status == 400
    [item] = [item for item in made["output"] if item["type"] == "message"]
    reference = {"input": [{"type": "item_reference", "id": item["id"]}]}
    assert of(app, reference, headers=beta).status == 400


def body(**fields: Any) -> Body:
    return Body(json.dumps(fields).encode())


def answered(identity: str) -> bytes:
    return json.dumps({"id": identity, "output": []}).encode()


def items(found: Body) -> Any:
    return json.loads(found.json() or b"")


@contextmanager
def database(url: str) -> Iterator[sqlalchemy.Connection]:
    """The store's, which is looked at without it."""
    engine = sqlalchemy.create_engine(url if "://" in url else f"sqlite:///{url}")
    try:
        with engine.begin() as connection:
            yield connection
    finally:
        engine.dispose()


def uses(url: str) -> list[Any]:
    """When each response was used, by their ids."""
    with database(url) as connection:
        asked = sqlalchemy.text("SELECT id, used FROM harmony_responses ORDER BY id")
        return [tuple(row) for row in connection.execute(asked)]


def test_age(url: str) -> None:
    store = Store(url, days=1)
    response = answered("resp_1")
    store.keep("", body(input="x"), response)
    following = body(input="y", previous_response_id="resp_1")
    store.keep("", following, answered("resp_2"))
    hours = 3600
    with database(url) as connection:
        table = "UPDATE harmony_responses SET used = {} WHERE id = '{}'"
        connection.execute(sqlalchemy.text(table.format(time.time() - 23 * hours, "resp_1")))
    [first, _] = items(store.history("", "resp_2", MOST))
    assert first["content"][0]["text"] == "x"
    written = uses(url)
    # What was used of late is not written again.
    store.history("", "resp_2", MOST)
    assert uses(url) == written
    # To go on is a use of all before.
    with database(url) as connection:
        used = connection.execute(
            sqlalchemy.text("SELECT min(used) FROM harmony_responses")
        ).scalar()
        assert used > time.time() - hours
        old = f"UPDATE harmony_responses SET used = {time.time() - 25 * hours}"
        connection.execute(sqlalchemy.text(old))
    assert store.response("", "resp_1") is None
    # The old ones are deleted now and then, and not whenever something is stored.
    store.keep("", body(input="y"), answered("resp_3"))
    assert len(uses(url)) == 3
    store.close()
    store = Store(url, days=1)
    # A second try of one that was stored changes nothing.
    store.keep("", body(input="z"), answered("resp_3"))
    with database(url) as connection:
        for table in ("harmony_responses", "harmony_items"):
            count = connection.execute(sqlalchemy.text(f"SELECT count(*) FROM {table}")).scalar()
            assert count == 1
    store.close()


def test_a_chain_that_many_continue(url: str) -> None:
    """Nobody waits in a circle, and nobody gets an error of the database's."""
    store = Store(url, days=30)
    for at in range(13):
        previous = {"previous_response_id": f"resp_{at - 1}"} if at else {}
        store.keep("", body(input=f"turn {at}", **previous), answered(f"resp_{at}"))
    with database(url) as connection:  # all of it has to be written anew
        connection.execute(
            sqlalchemy.text(f"UPDATE harmony_responses SET used = {time.time() - 7200}")
        )

    def go_on(at: int) -> int:
        made = store.history("", "resp_12", MOST)
        following = body(input="more", previous_response_id="resp_12")
        store.keep("", following, answered(f"resp_more_{at}"))
        return len(items(made))

    with ThreadPoolExecutor(24) as pool:
        assert set(pool.map(go_on, range(96))) == {13}
    assert len(items(store.history("", "resp_more_95", MOST))) == 14
    with database(url) as connection:
        oldest = connection.execute(sqlalchemy.text("SELECT min(used) FROM harmony_responses"))
        assert oldest.scalar() > time.time() - 3600
    store.close()


def test_a_file_that_was_removed_or_replaced(tmp_path: Path) -> None:
    file = tmp_path / "s.sqlite"
    store = Store(str(file), days=1)
    assert file.stat().st_mode & 0o777 == 0o600
    store.check()
    kept = file.read_bytes()
    file.unlink()
    with pytest.raises(StoreError) as caught:
        store.check()
    assert "No such file" in caught.value.reason
    file.write_bytes(kept)
    with pytest.raises(StoreError) as caught:
        store.check()
    assert caught.value.reason.endswith("was replaced by another file")
    store.close()
    store = Store(str(tmp_path / "t.sqlite"), days=1)
    (tmp_path / "t.sqlite").write_bytes(b"no database")
    with pytest.raises(StoreError) as caught:
        store.check()
    assert caught.value.reason.endswith("was overwritten")
    store.close()


def test_nothing_is_stored_without_being_asked(tmp_path: Path, start: Start) -> None:
    app = start(says(), store=str(tmp_path / "s.sqlite"))
    made = of(app, {"input": "Hello", "store": False}).json()
    assert made["store"] is False
    assert of(app, None, f"{PATH}/{made['id']}").status == 404
    without = start(says())
    made = of(without, {"input": "Hello", "store": True}).json()
    assert made["store"] is False
    assert "--store" in of(without, None, f"{PATH}/{made['id']}").json()["error"]["message"]
    refused = of(without, {"input": "Hello", "previous_response_id": "resp_1"})
    assert (refused.status, refused.json()["error"]["param"]) == (400, "previous_response_id")


@pytest.mark.parametrize("stores", [False, True])
def test_conversations_and_prompts_are_not_stored(
    stores: bool, tmp_path: Path, start: Start
) -> None:
    app = start(says(), **({"store": str(tmp_path / "s.sqlite")} if stores else {}))
    said = {"input": "Hello"}
    prompt, conversation = {"prompt": {"id": "p"}}, {"conversation": {"id": "conv_1"}}
    for body in ({**said, **prompt}, prompt, {**said, **conversation}, {"conversation": "conv_1"}):
        name = next(name for name in body if name != "input")
        for path in (PATH, f"{PATH}/input_tokens"):
            refused = of(app, body, path)
            assert (refused.status, refused.json()["error"]["param"]) == (400, name)
            assert "this server stores no" in refused.json()["error"]["message"]
    assert of(app, {**said, "conversation": None, "prompt": None}).status == 200


def test_what_broke_off_is_not_stored(tmp_path: Path, start: Start) -> None:
    file = tmp_path / "s.sqlite"
    engine = says("<|channel|>final<|message|>Hi", reason="abort")
    broken = start(engine, store=str(file))
    assert of(broken, {"input": "Hello"}).status == 502
    assert of(broken, {"input": "Hello", "stream": True}).events()[-1]["type"] == "response.failed"
    of(broken, {"input": "Hello", "stream": True}, leaves=lambda answer: len(answer.parts) > 0)
    assert stored(file) == 0


def errors(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [one.getMessage() for one in caplog.records if one.levelname == "ERROR"]


def stored(file: Path) -> int:
    with closing(sqlite3.connect(file)) as connection:
        [count] = connection.execute(
            "SELECT count(*) FROM harmony_responses WHERE used > 0"
        ).fetchone()
    return int(count)


def fails(app: Any) -> None:
    """A response that cannot be stored fails, and says no more; others do not notice."""
    answer = of(app, {"input": "Hello"})
    assert answer.status == 503
    assert "store" in answer.json()["error"]["message"]
    streamed = of(app, {"input": "Hello", "stream": True})
    assert streamed.status == 503
    assert of(app, {"input": "Hello", "store": False}).status == 200
    chat = {"messages": [{"role": "user", "content": "Hello"}]}
    assert of(app, chat, "/v1/chat/completions").status == 200
    refused = of(app, {"input": "x", "previous_response_id": "resp_1"})
    assert refused.status in (400, 503)
    for text in (answer, streamed, refused):
        assert b"sql" not in text.body.lower()


def test_what_a_thread_still_uses_is_closed_too(tmp_path: Path, start: Start) -> None:
    """A caller that left does not wait for its answer, and neither does the end."""
    store = start(says(), store=str(tmp_path / "s.sqlite")).state.store
    uses, ended = threading.Event(), threading.Event()
    used: list[Any] = []

    def use(connection: Any, *_: Any) -> None:
        used.append(connection)
        uses.set()
        ended.wait(10)

    async def leaves() -> None:
        asked = asyncio.ensure_future(store.ask(None, store.response, "", "resp_1"))
        await asyncio.to_thread(uses.wait, 10)
        asked.cancel()

    sqlalchemy.event.listen(sqlalchemy.pool.Pool, "checkout", use)
    try:
        asyncio.run(leaves())
        store.close()
        ended.set()
        for thread in threading.enumerate():
            if thread.name == "store":
                thread.join(10)
    finally:
        sqlalchemy.event.remove(sqlalchemy.pool.Pool, "checkout", use)
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        used[0].execute("SELECT 1")


def test_a_store_that_is_locked(tmp_path: Path, start: Start) -> None:
    file = tmp_path / "s.sqlite"
    app = start(says(), store=f"sqlite:///{file}?timeout=0.05")
    made = of(app, {"input": "Hello"}).json()
    lock = sqlite3.connect(file, isolation_level=None)
    lock.execute("BEGIN EXCLUSIVE")
    answer = of(app, {"input": "Hello"})
    assert answer.status == 503
    lock.execute("ROLLBACK")
    lock.close()
    assert of(app, None, f"{PATH}/{made['id']}").status == 200
    assert of(app, {"input": "Hello"}).status == 200


def test_a_store_that_is_gone(
    tmp_path: Path, start: Start, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "s.sqlite"
    app = start(says(), store=str(file))
    with closing(sqlite3.connect(file)) as other:
        other.execute("DROP TABLE harmony_responses")
    fails(app)
    caplog.clear()
    assert of(app, None, f"{PATH}/resp_1").status == 503
    said = "the store of responses cannot be used: no such table: harmony_responses"
    assert errors(caplog) == [said]
    caplog.clear()
    assert of(app, None, f"{PATH}/resp_1?stream=true").status == 400
    assert errors(caplog) == []
    health = asyncio.run(ask(app, "/health"))
    assert (health.status, health.json()["error"]) == (503, "the store of responses cannot be used")


def test_a_full_disk(tmp_path: Path, start: Start) -> None:
    file = tmp_path / "s.sqlite"
    app = start(says(), store=str(file))
    made = of(app, {"input": "Hello"}).json()

    def small(connection: Any, _: Any) -> None:
        connection.execute("PRAGMA max_page_count=1")

    sqlalchemy.event.listen(sqlalchemy.pool.Pool, "connect", small)
    try:
        full = start(says(), store=str(file))
        answer = of(full, {"input": "x" * 100_000})
        assert answer.status == 503
    finally:
        sqlalchemy.event.remove(sqlalchemy.pool.Pool, "connect", small)
    # Nothing of it is there, what was there before is.
    assert stored(file) == 1
    assert of(app, None, f"{PATH}/{made['id']}").json() == made


def test_what_cannot_be_stored_once_it_is_complete(
    tmp_path: Path, start: Start, caplog: pytest.LogCaptureFixture
) -> None:
    # Without a last token the end of the text is part of the end of the answer.
    app = start(says("<|channel|>final<|message|>Hi."), store=str(tmp_path / "s.sqlite"))

    def keep(*_: Any) -> None:
        raise StoreError("the disk is full")

    app.state.store.keep = keep
    *_, before, last = of(app, {"input": "Hello", "stream": True}).events()
    assert before["type"] == "response.output_item.done"
    assert (last["type"], last["response"]["status"]) == ("response.failed", "failed")
    error = {"code": "server_error", "message": "the response cannot be stored"}
    assert last["response"]["error"] == error
    whole = of(app, {"input": "Hello"})
    assert (whole.status, whole.json()["error"]["message"]) == (503, error["message"])
    said = f"{error['message']}: the disk is full"
    assert errors(caplog) == [said] * 2


def test_files_that_sqlite_names_itself(tmp_path: Path) -> None:
    for at in (
        "a.sqlite",
        f"sqlite:///{tmp_path}/b.sqlite",
        f"sqlite:///file:{tmp_path}/c?uri=true",
    ):
        store = Store(str(tmp_path / at) if "://" not in at else at, days=1)
        store.check()
        store.keep("", body(input=[]), answered("resp_1"))
        assert json.loads(store.response("", "resp_1") or "") == {"id": "resp_1", "output": []}
        store.close()
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a.sqlite", "b.sqlite", "c"]


def test_addresses_that_lead_nowhere(tmp_path: Path) -> None:
    for kind in ("mysql", "mongodb"):
        with pytest.raises(ValueError, match=f"store: {kind} is not supported; use PostgreSQL"):
            Store(f"{kind}://user:secret@x", 1)
    with pytest.raises(StoreError, match="the store of responses cannot be used$") as caught:
        Store(str(tmp_path / "no" / "folder.sqlite"), 1)
    assert str(tmp_path / "no") in caught.value.reason
    (tmp_path / "text.sqlite").write_text(json.dumps({"not": "a database"}) * 100)
    with pytest.raises(StoreError) as caught:
        Store(str(tmp_path / "text.sqlite"), 1)
    assert caught.value.reason == "file is not a database"
    assert issubclass(StoreError, RefusedError)


ODD = ("\ud800", "\0", "a b", "x" * 129, 5, {"a": 1})


def test_ids_that_no_database_can_keep(url: str, start: Start) -> None:
    async def run() -> None:
        app = start(says(), store=url)
        for odd in ODD:
            item = {"role": "user", "content": "Hello", "id": odd}
            made = await ask(app, PATH, {"input": [item]})
            assert made.status == 200
            [kept] = (await ask(app, f"{PATH}/{made.json()['id']}/input_items")).json()["data"]
            assert kept["id"].startswith("msg_")
            if not isinstance(odd, str):
                continue
            body = {"input": "On", "previous_response_id": odd}
            assert (await ask(app, PATH, body)).status == 400
            reference = {"input": [{"type": "item_reference", "id": odd}]}
            assert (await ask(app, PATH, reference)).status == 400
            assert (await ask(app, f"{PATH}/{odd}")).status == 404
            assert (await ask(app, f"{PATH}/{odd}", method="DELETE")).status == 404

    asyncio.run(run())


def test_tokens_of_an_input_are_counted(tmp_path: Path, start: Start) -> None:
    app = start(says(), store=str(tmp_path / "s.sqlite"))

    async def run() -> None:
        first = (await ask(app, PATH, {"input": "Hello"})).json()
        for body in ({"input": "Hello"}, {"input": "On", "previous_response_id": first["id"]}):
            counted = await ask(app, f"{PATH}/input_tokens", body)
            sampled = (await ask(app, PATH, {**body, "store": False})).json()
            expected = sampled["usage"]["input_tokens"]
            assert counted.json() == {
                "input_tokens": expected,
                "object": "response.input_tokens",
            }
        for wrong in ({"input": 3}, {"input": "On", "previous_response_id": "resp_none"}):
            refused = await ask(app, f"{PATH}/input_tokens", wrong)
            assert (refused.status, refused.json()["error"]["type"]) == (
                400,
                "invalid_request_error",
            )

    asyncio.run(run())


@pytest.mark.parametrize("name", ["f", "note"])
def test_items_have_ids_as_the_api_writes_them(name: str) -> None:
    """Those of what is asked begin as those of answers do."""
    tools = [{"type": "function", "name": "f"}, {"type": "custom", "name": "note"}]
    reply = responses.read({"input": "Hi", "tools": tools}).reply(ENCODING, model="m")
    said = (
        "<|channel|>analysis<|message|>Hm<|end|><|start|>assistant<|channel|>commentary<|message|>"
        f"Hi<|end|><|start|>assistant<|channel|>commentary to=functions.{name}<|message|>{{}}<|call|>"
    )
    reply.feed(ENCODING.encode(said, allowed_special="all"))
    reply.finish("stop")
    output = reply.response()["output"]
    assert len(output) == 3
    asked = [{key: value for key, value in item.items() if key != "id"} for item in output]
    results = [{"type": f"{item['type']}_output"} for item in asked if "call_id" in item]
    found = input_of(Body(json.dumps({"input": asked + results}).encode()))
    ids = [item["id"] for item in output]
    assert [new.partition("_")[0] for new, _, _ in found] == [
        old.partition("_")[0] for old in [*ids, ids[-1]]
    ]
    text = input_of(Body(b'{"input": "Hi"}'))
    assert [new.partition("_")[0] for new, _, _ in text] == ["msg"]

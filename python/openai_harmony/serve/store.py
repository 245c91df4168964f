"""What must last: the responses that clients refer to later, in a database that a URL names.

Any number of processes may use one database. Everything happens in transactions, so nothing is
stored half. Each response belongs to the API key that asked for it.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any, NamedTuple, TypeVar

import sqlalchemy as sql
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, SQLAlchemyError

from openai_harmony.interop import Body
from openai_harmony.serve.items import MOST_ID, input_of, is_identity
from openai_harmony.serve.keys import Key
from openai_harmony.serve.refusals import RefusedError, StoreError
from openai_harmony.serve.shares import Held, Share
from openai_harmony.serve.store_file import StoreFile
from openai_harmony.serve.threads import Threads

Item = dict[str, Any]
Made = TypeVar("Made")

_DAY = 86_400.0
_PURGE_SECONDS = 60.0
_DELETED_AT_A_TIME = 500
_USED_SECONDS = 3600.0
"""So exactly it is known when a response was used last, at most."""
_THREADS = 8
_MOST_ASKED = 512
"""So many questions may wait for an answer; answers that are complete are stored all the same."""
_TRIED_BYTES = 2**16
"""What is written to see whether an answer could be stored: more than most answers have."""

_TABLES = sql.MetaData()
_RESPONSES = sql.Table(
    "harmony_responses",
    _TABLES,
    sql.Column("id", sql.String(MOST_ID), primary_key=True),
    sql.Column("owner", sql.String(64), nullable=False),
    sql.Column("used", sql.Double, nullable=False, index=True),
    sql.Column("previous", sql.String(MOST_ID)),
    sql.Column("input", sql.Text, nullable=False),
    sql.Column("response", sql.Text, nullable=False),
)
_ITEMS = sql.Table(
    "harmony_items",
    _TABLES,
    sql.Column("response", sql.String(MOST_ID), primary_key=True),
    sql.Column("position", sql.Integer, primary_key=True),
    sql.Column("id", sql.String(MOST_ID), nullable=False, index=True),
    sql.Column("item", sql.Text, nullable=False),
)


class Referred(NamedTuple):
    """What a body refers to."""

    history: Body | None
    """What was said before it, if it names a response."""
    items: dict[str, Body]
    """Items by their ids."""
    size: int
    """The bytes of all, each as often as it is named."""


class Store:
    """Responses by their ids. Its functions block, but for :meth:`ask`, which calls the others."""

    def __init__(self, url: str, days: float, seconds: float = 5.0) -> None:
        """Opens the database, and makes its tables if there are none.

        Args:
            url: A SQLAlchemy URL, or the path of a SQLite file.
            days: So long after its last use a response is kept.
            seconds: So long an answer of the database may take.

        Raises:
            ValueError: No such URL.
            StoreError: The database cannot be used.
        """
        address = url if "://" in url else f"sqlite:///{url}"
        if address in ("sqlite://", "sqlite:///", "sqlite:///:memory:"):
            raise ValueError(f"store: {url}: a database in memory keeps nothing; name a file")
        is_sqlite = address.startswith("sqlite")
        kind = address.partition(":")[0]
        unsupported = (
            f"store: {kind} is not supported; use PostgreSQL, or the path of a SQLite file"
        )
        if kind.startswith(("mysql", "mariadb")):
            raise ValueError(unsupported)
        self._file = StoreFile.of(address) if is_sqlite else None
        try:
            self._engine = sql.create_engine(
                address,
                pool_pre_ping=True,
                pool_size=_THREADS,
                connect_args={"timeout": seconds} if is_sqlite else {},
            )
        except ModuleNotFoundError as error:
            package = "'psycopg[binary]'" if error.name == "psycopg" else error.name
            raise ValueError(f"store: {error.name} is missing: pip install {package}") from None
        except NoSuchModuleError:
            raise ValueError(unsupported) from None
        except ArgumentError as error:
            raise ValueError(f"store: {error}") from None
        if self._file is not None:
            try:
                self._file.make()
            except OSError as error:
                raise _broken(error) from error
        if is_sqlite:
            sql.event.listen(self._engine, "connect", _set_up)
        self._seconds, self._deadline = days * _DAY, seconds
        self._purged = 0.0
        self._threads, self.share = Threads(_THREADS), Share(_MOST_ASKED)
        self._tried = threading.local()
        with _errors():
            try:
                _TABLES.create_all(self._engine)
            except DBAPIError:  # another process may have made them meanwhile
                _TABLES.create_all(self._engine)
        if self._file is not None:
            self._file.opened()

    async def ask(self, key: Key | None, work: Callable[..., Made], *given: Any) -> Made:
        """What one of the other functions returns, in a thread of the store's.

        ``StoreError`` if it takes too long, or the questions of this key are too many; without a
        key they never are.
        """
        with ExitStack() as stack:
            if key is not None:
                held = Held(self.share, key)
                if not held.becomes(1):
                    raise StoreError(f"{self.share.used} questions wait")
                stack.callback(held.becomes, 0)
            try:
                return await self._threads.run(self._deadline, partial(work, *given))
            except asyncio.TimeoutError:
                raise StoreError(f"no answer within {self._deadline:g} s") from None

    def check(self) -> None:
        """``StoreError`` if nothing can be stored now, which is tried by a write."""
        try:
            if self._file is not None:
                self._file.check()
        except OSError as error:
            raise _broken(error) from error
        if not hasattr(self._tried, "id"):
            self._tried.id = f"tried_{uuid.uuid4().hex}"
        # Without an owner, and too old to be found: what is left of it is purged.
        row = {"id": self._tried.id, "owner": "", "used": 0.0, "response": ""}
        row["input"] = os.urandom(_TRIED_BYTES // 2).hex()

        def write(connection: sql.Connection) -> None:
            connection.execute(_RESPONSES.delete().where(_RESPONSES.c.id == self._tried.id))
            connection.execute(_RESPONSES.insert(), row)

        self._write(write)

    def referred(self, owner: str, body: Body, keeps: bool, most: int) -> Referred:
        """What a body refers to.

        ``StoreError`` if its answer is to be kept and cannot be, ``RefusedError`` as of
        :meth:`history`, and for more than ``most`` bytes.
        """
        if keeps:
            self.check()
        history, size, items = None, 0, body.items("input")
        if (previous := body.text("previous_response_id")) is not None:
            history = self.history(owner, previous, most)
            raw = history.json() or b""
            size, items = len(raw), items + Body(b'{"input":%b}' % raw).items("input")
        named = Counter(identity for identity, kind, _ in items if kind == "item_reference")
        found: dict[str, Body] = {}
        for identity, count in named.items():
            if identity is None or (item := self._item(owner, identity)) is None:
                break  # the reader says where
            found[identity] = Body(item.encode())
            size += count * len(item)
            if size > most:
                raise _too_large("input", most)
        return Referred(history, found, size)

    def keep(self, owner: str, body: Body, response: bytes) -> None:
        """Stores a response, as JSON, with what was asked."""
        answered = Body(response)
        identity = answered.text("id")
        asked = input_of(body)
        said = answered.items("output")
        items = [*asked, *((item_id, kind, item.decode()) for item_id, kind, item in said)]
        rows = [
            {"response": identity, "position": at, "id": item_id, "item": item}
            for at, (item_id, kind, item) in enumerate(items)
            if item_id and kind != "item_reference"
        ]
        row = {
            "id": identity,
            "owner": owner,
            "used": time.time(),
            "previous": body.text("previous_response_id"),
            "input": f"[{','.join(item for _, _, item in asked)}]",
            "response": response.decode(),
        }

        def insert(connection: sql.Connection) -> None:
            # A first try may have been stored although its connection broke.
            there = sql.select(_RESPONSES.c.id).where(_RESPONSES.c.id == identity)
            if connection.execute(there).scalar() is None:
                connection.execute(_RESPONSES.insert(), row)
                if rows:
                    connection.execute(_ITEMS.insert(), rows)

        self._write(insert)
        self._purge()

    def response(self, owner: str, identity: str) -> str | None:
        """A response, as JSON, or ``None`` if there is none of this id."""
        with _errors(), self._engine.connect() as connection:
            row = self._row(connection, owner, identity)
        return None if row is None else str(row.response)

    def input_items(self, owner: str, identity: str) -> list[Item] | None:
        """What was asked, or ``None`` if there is no response of this id."""
        with _errors(), self._engine.connect() as connection:
            row = self._row(connection, owner, identity)
        return None if row is None else list(json.loads(row.input))

    def delete(self, owner: str, identity: str) -> bool:
        """Deletes a response and all that was stored with it; whether there was one."""
        if not is_identity(identity):
            return False
        own = sql.and_(_RESPONSES.c.id == identity, self._living(owner))
        deleted = self._write(lambda connection: _delete(connection, own))
        if deleted:
            self._forget()
        return bool(deleted)

    def history(self, owner: str, identity: str, most: int) -> Body:
        """The items that were said up to and with a response, which counts as a use of all of it.

        ``RefusedError`` if it or one before it is not there, deleted or too old, and for more than
        ``most`` bytes.
        """
        if not is_identity(identity):
            raise _not_found(identity, identity)
        steps: dict[str, tuple[bytes, str | None]] = {}
        """The items of a response and its input, and the response before it."""
        size = 0
        asked_for = self._chain(owner, identity).execution_options(yield_per=8)
        with (
            _errors(),
            self._engine.connect() as connection,
            connection.execute(asked_for) as rows,
        ):
            for row in rows:
                output = Body(row.response.encode()).items("output")
                asked = Body(f'{{"input":{row.input}}}'.encode()).items("input")
                items = b",".join(item for _, _, item in (*asked, *output))
                steps[row.id] = items, row.previous
                size += len(items)
                if size > most:
                    raise _too_large("previous_response_id", most)
        said: list[bytes] = []
        following: str | None = identity
        while following is not None:
            if following not in steps:
                raise _not_found(identity, following)
            items, following = steps.pop(following)
            said.append(items)
        self._use(owner, identity)
        return Body(b"[%b]" % b",".join(items for items in reversed(said) if items))

    def _chain(self, owner: str, identity: str) -> sql.Select[Any]:
        """A response and all before it, by one query."""
        columns = (_RESPONSES.c.id, _RESPONSES.c.previous, _RESPONSES.c.used)
        first = sql.select(*columns).where(_RESPONSES.c.id == identity, self._living(owner))
        chain = first.cte("chain", recursive=True)
        before = sql.select(*columns).where(
            _RESPONSES.c.id == chain.c.previous, self._living(owner)
        )
        # No circle: what is there twice is not followed again.
        chain = chain.union(before)
        return sql.select(_RESPONSES).join(chain, chain.c.id == _RESPONSES.c.id)

    def _use(self, owner: str, identity: str) -> None:
        """Keeps a chain for its days from now on.

        Rows that another process is writing are left out: it does the same. So no process waits for
        another one, and there are no circles of waiting. Rows used of late are not written at all.
        """
        now = time.time()
        late = now - min(_USED_SECONDS, self._seconds / 100)
        chain = self._chain(owner, identity).subquery()
        stale = sql.select(_RESPONSES.c.id).where(
            _RESPONSES.c.id.in_(sql.select(chain.c.id)), _RESPONSES.c.used < late
        )

        def use(connection: sql.Connection) -> None:
            found = connection.execute(stale).scalars().all()
            if not found:
                return
            here = sql.select(_RESPONSES.c.id).where(_RESPONSES.c.id.in_(found))
            free = connection.execute(here.with_for_update(skip_locked=True)).scalars().all()
            used = _RESPONSES.update().where(_RESPONSES.c.id.in_(free))
            connection.execute(used.values(used=now))

        self._write(use)

    def _item(self, owner: str, identity: str) -> str | None:
        """The newest item of an id."""
        if not is_identity(identity):
            return None
        found = (
            sql.select(_ITEMS.c.item)
            .join(_RESPONSES, _RESPONSES.c.id == _ITEMS.c.response)
            .where(_ITEMS.c.id == identity, self._living(owner))
            .order_by(_RESPONSES.c.used.desc())
            .limit(1)
        )
        with _errors(), self._engine.connect() as connection:
            text: str | None = connection.execute(found).scalar()
        return text

    def close(self) -> None:
        """Closes the connections, those that threads still use once they are given back."""
        # `dispose` of the engine would make another pool, and forget what comes back to this one.
        self._threads.end(self._engine.pool.dispose)
        self._engine.pool.dispose()

    def _living(self, owner: str) -> sql.ColumnElement[bool]:
        """Rows of this owner that are not too old."""
        oldest = time.time() - self._seconds
        return sql.and_(_RESPONSES.c.owner == owner, _RESPONSES.c.used >= oldest)

    def _row(self, connection: sql.Connection, owner: str, identity: str) -> Any:
        if not is_identity(identity):
            return None
        found = _RESPONSES.select().where(_RESPONSES.c.id == identity, self._living(owner))
        return connection.execute(found).one_or_none()

    def _forget(self) -> None:
        """Removes what was deleted from SQLite's log of writes, too, unless somebody reads."""
        if self._engine.dialect.name == "sqlite":
            with _errors(), self._engine.connect() as connection:
                connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")

    def _purge(self) -> None:
        """Deletes what is too old, now and then."""
        now = time.time()
        if now - self._purged < _PURGE_SECONDS:
            return
        self._purged = now
        old = _RESPONSES.c.used < now - self._seconds
        self._write(lambda connection: _delete(connection, old))

    def _write(self, work: Callable[[sql.Connection], Made]) -> Made:
        """Does work in a transaction, and again as long as that helps and there is time."""
        end, pause = time.monotonic() + self._deadline, 0.01
        while True:
            try:
                with self._engine.begin() as connection:
                    return work(connection)
            except SQLAlchemyError as error:
                if time.monotonic() + pause > end or not _may_pass(error):
                    raise _broken(error) from error
                time.sleep(random.uniform(1, 5) * pause)
                pause *= 2


def _may_pass(error: SQLAlchemyError) -> bool:
    """Whether another attempt can help: a deadlock, a broken connection, a locked file."""
    if not isinstance(error, DBAPIError):
        return False
    state = getattr(error.orig, "sqlstate", None)
    return (
        error.connection_invalidated
        or state in ("40001", "40P01")
        or "database is locked" in str(error.orig)
    )


def _delete(connection: sql.Connection, which: sql.ColumnElement[bool]) -> int:
    """Deletes responses, a part at a time, and first what they consist of; how many it were."""
    found = sql.select(_RESPONSES.c.id).where(which).limit(_DELETED_AT_A_TIME)
    # In one order, so that no processes wait in a circle.
    found = found.order_by(_RESPONSES.c.id).with_for_update()
    identities = connection.execute(found).scalars().all()
    connection.execute(_ITEMS.delete().where(_ITEMS.c.response.in_(identities)))
    connection.execute(_RESPONSES.delete().where(_RESPONSES.c.id.in_(identities)))
    return len(identities)


def _not_found(asked: str, missing: str) -> RefusedError:
    if asked == missing:
        text = f"no response {asked!r} is stored: it was deleted, is too old, or never was"
    else:
        text = f"the response {asked!r} follows {missing!r}, which is not stored any more"
    return RefusedError(
        f"previous_response_id: {text}",
        path="previous_response_id",
        code="previous_response_not_found",
    )


def _too_large(path: str, most: int) -> RefusedError:
    text = f"{path}: what it refers to is larger than {most:,} bytes"
    return RefusedError(text, 413, path=path)


def _set_up(connection: Any, _: Any) -> None:
    """Readers of a SQLite file do not wait for writers; what is deleted is overwritten."""
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=NORMAL")
    connection.execute("PRAGMA secure_delete=ON")


def _broken(error: Exception) -> StoreError:
    """With what the database said: SQLAlchemy's text has the statement, and with it contents."""
    reason = error.orig if isinstance(error, DBAPIError) else error
    is_named = isinstance(error, (DBAPIError, OSError))
    return StoreError(str(reason) if is_named else type(error).__name__)


@contextmanager
def _errors() -> Iterator[None]:
    try:
        yield
    except SQLAlchemyError as error:
        raise _broken(error) from error

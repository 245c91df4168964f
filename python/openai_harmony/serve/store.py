"""What must last: the responses that clients refer to later, in a database behind a URL.

Any number of processes may use one database. Everything happens in transactions, so nothing is
stored half. Each response belongs to the API key that asked for it.
"""

from __future__ import annotations

import json
import re
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sql
from sqlalchemy.dialects.mysql import LONGTEXT
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, SQLAlchemyError

from openai_harmony.serve.refusals import RefusedError

Item = dict[str, Any]

_DAY = 86_400.0
_MOST_ID = 128
"""So many characters may an id have."""
_BUSY_SECONDS = 5.0
"""So long a process waits for another one that writes."""
_PURGE_SECONDS = 60.0

_TABLES = sql.MetaData()
_JSON = sql.Text().with_variant(LONGTEXT(), "mysql", "mariadb")
_RESPONSES = sql.Table(
    "harmony_responses",
    _TABLES,
    sql.Column("id", sql.String(_MOST_ID), primary_key=True),
    sql.Column("owner", sql.String(64), nullable=False),
    sql.Column("used", sql.Double, nullable=False, index=True),
    sql.Column("previous", sql.String(_MOST_ID)),
    sql.Column("input", _JSON, nullable=False),
    sql.Column("response", _JSON, nullable=False),
)
_ITEMS = sql.Table(
    "harmony_items",
    _TABLES,
    sql.Column("response", sql.String(_MOST_ID), primary_key=True),
    sql.Column("position", sql.Integer, primary_key=True),
    sql.Column("id", sql.String(_MOST_ID), nullable=False, index=True),
    sql.Column("item", _JSON, nullable=False),
)


class StoreError(RefusedError):
    """The database cannot be used; the text says why."""

    def __init__(self, error: SQLAlchemyError) -> None:
        # The text of the error itself has the statement, and with it contents.
        reason = error.orig if isinstance(error, DBAPIError) else type(error).__name__
        super().__init__(f"the store of responses cannot be used: {reason}", 503)


class Store:
    """Responses by their ids. Its functions block: call them in a thread."""

    def __init__(self, url: str, days: float) -> None:
        """Opens the database, and makes its tables if there are none.

        Args:
            url: A SQLAlchemy URL, or the path of a SQLite file.
            days: So long after its last use a response is kept.

        Raises:
            ValueError: No such URL.
            StoreError: The database cannot be used.
        """
        address = url if "://" in url else f"sqlite:///{url}"
        if address in ("sqlite://", "sqlite:///", "sqlite:///:memory:"):
            raise ValueError(f"store: {url}: a database in memory keeps nothing; name a file")
        options: dict[str, Any] = {"pool_pre_ping": True}
        if address.startswith("sqlite"):
            options["connect_args"] = {"timeout": _BUSY_SECONDS}
        try:
            self._engine = sql.create_engine(address, **options)
        except (ArgumentError, NoSuchModuleError, ModuleNotFoundError) as error:
            raise ValueError(f"store: {error}") from None
        if address.startswith("sqlite"):
            sql.event.listen(self._engine, "connect", _set_up)
        self._seconds = days * _DAY
        self._purged = 0.0
        with _errors():
            try:
                _TABLES.create_all(self._engine)
            except DBAPIError:  # another process may have made them meanwhile
                _TABLES.create_all(self._engine)

    def keep(self, owner: str, body: dict[str, Any], response: dict[str, Any]) -> None:
        """Stores a response with what was asked."""
        now, identity = time.time(), response["id"]
        asked = input_of(body)
        rows = [
            {"response": identity, "position": at, "id": item["id"], "item": json.dumps(item)}
            for at, item in enumerate([*asked, *response["output"]])
            if item.get("id") and item.get("type") != "item_reference"
        ]
        row = {
            "id": identity,
            "owner": owner,
            "used": now,
            "previous": body.get("previous_response_id"),
            "input": json.dumps(asked),
            "response": json.dumps(response),
        }
        with _errors(), self._engine.begin() as connection:
            connection.execute(_RESPONSES.insert(), row)
            if rows:
                connection.execute(_ITEMS.insert(), rows)
            self._purge(connection, now)

    def response(self, owner: str, identity: str) -> dict[str, Any] | None:
        """A response, or ``None`` if there is none of this id."""
        with _errors(), self._engine.connect() as connection:
            row = self._row(connection, owner, identity)
        return None if row is None else dict(json.loads(row.response))

    def input_items(self, owner: str, identity: str) -> list[Item] | None:
        """What was asked, or ``None`` if there is no response of this id."""
        with _errors(), self._engine.connect() as connection:
            row = self._row(connection, owner, identity)
        return None if row is None else list(json.loads(row.input))

    def delete(self, owner: str, identity: str) -> bool:
        """Deletes a response and all that was stored with it; whether there was one."""
        with _errors(), self._engine.begin() as connection:
            if self._row(connection, owner, identity) is None:
                return False
            _delete(connection, _RESPONSES.c.id == identity)
        self._forget()
        return True

    def history(self, owner: str, identity: str) -> list[Item]:
        """What was said up to and with a response, which counts as a use of all of it.

        ``RefusedError`` if it or one before it is not there: deleted, or too old.
        """
        said: list[list[Item]] = []
        chain: list[str] = []
        following: str | None = identity
        with _errors(), self._engine.begin() as connection:
            while following is not None:
                row = self._row(connection, owner, following)
                if row is None or following in chain:
                    raise _not_found(identity, following)
                chain.append(following)
                said.append([*json.loads(row.input), *json.loads(row.response)["output"]])
                following = row.previous
            used = _RESPONSES.update().where(_RESPONSES.c.id.in_(chain))
            connection.execute(used.values(used=time.time()))
        return [item for items in reversed(said) for item in items]

    def item(self, owner: str, identity: str) -> Item | None:
        """The newest item of an id, or ``None``."""
        if not _is_identity(identity):
            return None
        found = (
            sql.select(_ITEMS.c.item)
            .join(_RESPONSES, _RESPONSES.c.id == _ITEMS.c.response)
            .where(_ITEMS.c.id == identity, self._living(owner))
            .order_by(_RESPONSES.c.used.desc())
            .limit(1)
        )
        with _errors(), self._engine.connect() as connection:
            text = connection.execute(found).scalar()
        return None if text is None else dict(json.loads(text))

    def close(self) -> None:
        """Closes the connections."""
        self._engine.dispose()

    def _living(self, owner: str) -> sql.ColumnElement[bool]:
        """Rows of this owner that are not too old."""
        oldest = time.time() - self._seconds
        return sql.and_(_RESPONSES.c.owner == owner, _RESPONSES.c.used >= oldest)

    def _row(self, connection: sql.Connection, owner: str, identity: str) -> Any:
        if not _is_identity(identity):
            return None
        found = _RESPONSES.select().where(_RESPONSES.c.id == identity, self._living(owner))
        return connection.execute(found).one_or_none()

    def _forget(self) -> None:
        """Removes what was deleted from SQLite's log of writes, too, unless somebody reads."""
        if self._engine.dialect.name == "sqlite":
            with _errors(), self._engine.connect() as connection:
                connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")

    def _purge(self, connection: sql.Connection, now: float) -> None:
        """Deletes what is too old, now and then."""
        if now - self._purged >= _PURGE_SECONDS:
            self._purged = now
            _delete(connection, _RESPONSES.c.used < now - self._seconds)


def _is_identity(found: Any) -> bool:
    """Whether a response or an item can have this id: every database must be able to keep it."""
    return isinstance(found, str) and re.fullmatch(f"[!-~]{{1,{_MOST_ID}}}", found) is not None


def input_of(body: dict[str, Any]) -> list[Item]:
    """The input of a body as items, each with an id: its own, if that can be kept."""
    asked = body.get("input") or []
    if isinstance(asked, str):
        content = [{"type": "input_text", "text": asked}]
        asked = [{"type": "message", "role": "user", "content": content}]
    return [
        item if _is_identity(item.get("id")) else {**item, "id": f"msg_{uuid.uuid4().hex}"}
        for item in asked
    ]


def _delete(connection: sql.Connection, which: sql.ColumnElement[bool]) -> None:
    identities = sql.select(_RESPONSES.c.id).where(which)
    connection.execute(_ITEMS.delete().where(_ITEMS.c.response.in_(identities)))
    connection.execute(_RESPONSES.delete().where(which))


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


def _set_up(connection: Any, _: Any) -> None:
    """Readers of a SQLite file do not wait for who writes; what is deleted is overwritten."""
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=NORMAL")
    connection.execute("PRAGMA secure_delete=ON")


@contextmanager
def _errors() -> Iterator[None]:
    try:
        yield
    except SQLAlchemyError as error:
        raise StoreError(error) from error

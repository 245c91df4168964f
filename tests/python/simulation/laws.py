"""What holds in all worlds, seen from outside: by what clients and the engine saw, and when."""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

from simulation.simulated_clients import (
    ABORT,
    CHAT,
    COUNTS,
    MADE,
    NEVER,
    PASSED_ON,
    READY,
    RESPONSES,
    Exchange,
    Understood,
)
from simulation.simulated_engine import EARLY, ENCODING, FORCED, MARKER, Asked, Plan

USAGE = re.compile(rb'"(?:completion_tokens|output_tokens|eval_count)": ?(\d+)')
GRAMMARS = {"structured_outputs", "structural_tag", "grammar"}
SAMPLING = ("temperature", "top_p")
"""Fields that every API has."""
AT_ONCE = 0.5
"""Seconds within which what needs nobody else happens, threads and connections included."""
IDLE_SECONDS = 60.0
"""After so long the server may close a connection that asks for nothing."""
LARGE = 32_768
"""Bodies of so many bytes count."""
DISCARD_SECONDS = 10.0
"""So long the rest of a large body is read before it is refused."""
LEAST_RATE_SECONDS = 5.0
"""So often the rate of a large body is measured."""
MOST_CONNECTING = 4.0
"""The most seconds until the engine is asked, with all questions about it."""
THOUGHT_HEADER = 3
"""The tokens before a thought."""
MOST_TO_CONNECT = 60.0
"""The most seconds until a connection is made."""
NARROW = 1000
"""With fewer bytes under way, each event is waited for."""
LAST_SECONDS = 2.5
"""So long an answer may take to end once its time is up."""


class Laws:
    """About one world that has ended."""

    def __init__(self, world: Any) -> None:
        self._world = world
        self._ids: list[str] = []
        """Those of answers."""
        self._exchanges: list[Exchange] = world.exchanges
        self._asked: dict[str, list[Asked]] = {one.marker: [] for one in self._exchanges}
        for asked in world.engine.asked:
            self._asked[asked.marker].append(asked)
        self._first = {
            marker: min((found.began for found in asked), default=NEVER)
            for marker, asked in self._asked.items()
        }
        """When the engine was asked first."""

    def check(self) -> None:
        """``AssertionError`` if one is broken."""
        for one in self._exchanges:
            try:
                for law in (self.ends_in_time, self.is_its_own, self.is_meant, self.is_sent_once):
                    law(one)
            except Exception as error:
                raise AssertionError(
                    f"{type(error).__name__} {error}\n{self._about(one)}"
                ) from error
        assert not self._world.network.failures, self._world.network.failures
        for process in self._world.processes:
            self.as_many_as_allowed(process)
            self.in_turn(process)
        self.ids_are_unique()
        self.all_is_given_back()

    def _about(self, one: Exchange) -> str:
        plans = self._world.engine.plans.get(one.marker)
        asked = self._asked.get(one.marker)
        process = self._process(one)
        since = process and (process.term_at, *process.history)
        said = one.raw[-200:].decode(errors="replace")
        return f"{one}\n{plans}\n{asked}\n{since}\n{said}"

    def _process(self, one: Exchange) -> Any:
        """The one that took its connection."""
        of = (process for process in self._world.processes if process.took(one.server))
        return next(of, None)

    def _asked_for(self, one: Exchange) -> list[Asked]:
        """What the engine was asked for it, and not for the request whose response it gets."""
        return self._asked.get(one.marker, []) if one.takes_place else []

    def _plan_fault(self, one: Exchange) -> set[str]:
        return {plan.fault for plan in self._world.engine.plans.get(one.marker, ()) if plan.fault}

    def ends_in_time(self, one: Exchange) -> None:
        """Every request ends, by an answer or with its connection."""
        if one.left or one.path == READY or (process := self._process(one)) is None:
            return
        settings = process.settings

        if one.stops:
            latest = one.begun + 2 * settings.body_timeout + AT_ONCE
            latest += settings.client_timeout + 5 if one.slow else 0
            latest += DISCARD_SECONDS if one.padding or one.is_hostile else 0
            if len(one.request()) * (1 - 1 / one.pieces) - 1000 >= LARGE and not one.slow:
                arrived = max([one.begun, *(at for at, _ in one.connection.wire.delivered)])
                latest = min(latest, arrived + 2 * LEAST_RATE_SECONDS + AT_ONCE)
        else:
            answer = settings.request_timeout + settings.client_timeout
            latest = one.whole_at + settings.queue_timeout + answer + LAST_SECONDS + AT_ONCE
            latest += 3 * settings.store_timeout if self._world.network.hangs else 0
        asked = self._asked_for(one)
        drained = process.ends_at + settings.drain_timeout + AT_ONCE
        drained += LAST_SECONDS if asked else 0
        drained += settings.store_timeout if self._world.network.hangs else 0
        drained += AT_ONCE if not one.slow else settings.client_timeout + 5
        latest = min(latest, max(drained, one.begun + AT_ONCE))
        # A client that reads nothing sees a refusal late. A client that reads slowly, or still sends
        # a large message, sees late that its WebSocket is closed.
        sent = sum(other.padding for other in self._exchanges if other.is_sent_with(one))
        is_blind = one.slow + sent > 0 if one.is_message else one.slow > LAST_SECONDS and not asked
        ended = one.released if is_blind else one.ended
        assert ended <= latest, f"it ended {ended - latest} s too late"
        if asked and not self._world.network.refusals:
            waited = self._first[one.marker] - one.whole_at
            waited -= settings.store_timeout if self._world.network.hangs else 0
            waited -= settings.queue_timeout + MOST_CONNECTING
            assert waited <= 0, f"it waited {waited} s too long"
        unread = one.connection.wire.peer.longest_full - settings.client_timeout
        assert unread <= AT_ONCE, f"nothing was read for {unread} s too long"

    def is_its_own(self, one: Exchange) -> None:
        """No text, field or item of another request."""
        own = {one.marker, *one.chain}
        there = set(MARKER.findall(one.raw.decode(errors="replace")))
        there = {marker for marker in there if marker in self._world.markers}
        assert there <= own, f"another request's text: {there - own}"
        if one.foreign and one.status == 200:
            raise AssertionError("somebody else's response")
        given, found = one.headers.get("x-request-id", ""), one.found.get("x-request-id", "")
        assert not found or found == given or found.startswith(f"{given}-" if given else "req_")
        for asked in self._asked_for(one):
            ended = [other.key for other in self._exchanges if other.marker in asked.aborted]
            assert set(ended) <= {one.key}, "ended by another key"
            markers = [marker for marker in asked.markers if marker in self._world.markers]
            found = list(dict.fromkeys(markers))
            expected = [*one.chain, one.marker]
            assert found == expected, f"the engine was asked {found}, not {expected}"
            self._fields_are_its_own(one, asked)

    def _fields_are_its_own(self, one: Exchange, asked: Asked) -> None:
        kind = self._world.engine.kind
        names = [*SAMPLING]
        if kind.startswith("vllm"):
            names += ["cache_salt", "priority", "min_tokens"]
        for name in names:
            sampling = one.body.get("options") or one.body.get("sampling_params") or {}
            given = {**one.body, **sampling}.get(name)
            assert name != "priority" or not given or given > 0, "only for trusted keys"
            if name in SAMPLING and given is None and one.path not in PASSED_ON:
                given = 1.0
            assert asked.body.get(name) == given, f"{name} is {asked.body.get(name)}, not {given}"

        if "response_format" in one.body and not one.is_hostile:
            assert asked.body.keys() & GRAMMARS, "the engine has no grammar"

    def is_meant(self, one: Exchange) -> None:
        """Every answer is what the model's tokens mean, or ends as its API says failures end."""
        # What the engine itself says, of which a client may have read a part.
        is_engines = one.path in PASSED_ON and "failed" in self._plan_fault(one)
        is_engines &= b"said the engine" in one.raw or not one.is_complete
        assert one.status != 500 or is_engines, one.raw
        assert one.status in (0, 401) or one.key not in self._world.wrong_keys, "a wrong key"
        if one.status and not one.is_message and one.begun > self._process(one).term_at:
            assert one.found.get("connection") == "close", "a server that ends keeps a connection"
        if one.left or one.stops:
            return
        process = self._process(one)
        if not one.is_complete:
            # Nobody heard it, or it did not read.
            settings = process.settings if process else None
            patience = settings and min(settings.client_timeout, settings.body_timeout)
            # Of what is cut, some 440 bytes are read at a time, and writers wait for 48 KiB.
            sends = one.connection.wire.peer
            parts = max(110, one.reads / 400) if sends.cuts else 4
            # One in twenty of the parts comes late, or more by chance.
            slow = max(one.slow, sends.delay / 10 if sends.cuts else 0.0)
            if one.is_message and self._world.network.most < NARROW:
                # An event waits until all before it have arrived, those of other messages, too.
                all_slow = [
                    each.slow for each in self._exchanges if each.connection is one.connection
                ]
                slow, parts = max(sends.delay, *all_slow), 110
            is_taken = patience and slow > patience / parts
            asked = self._asked_for(one)
            is_gone = not one.status and not asked and self._is_unheard(one)
            is_gone |= bool(process and one.is_message) and self._is_closed(one, process)
            # Its last piece has little time, and an error of the engine's itself has no other end.
            can_end = one.slow or (one.path in PASSED_ON and one.status != 200)
            ends = can_end and (self._is_late(one) or one.ended >= self._ends_at(process))
            assert is_taken or is_gone or ends, "nothing ends it"
            return
        if one.path == READY:
            assert one.status == 503 or one.begun <= process.term_at, "ready while it ends"
            soon = one.status == 200 and one.ended - one.whole_at < MOST_CONNECTING
            ends = one.ended >= process.term_at or self._world.network.refusals
            assert soon or ends, f"{one.raw!r} after {one.ended - one.whole_at} s"
            return
        if one.path in (ABORT, *MADE):
            self._is_answered_at_once(one)
            return
        if one.method != "POST" and one.status == 200:
            identity = one.path.rpartition("/")[2]
            assert identity.encode() in one.raw or one.foreign, "what was stored is not there"
            return
        found = one.answers()
        self._ids += [found[0].id] if one.path in (CHAT, RESPONSES) and found[0].id else []
        if any(answer.end == "failed" for answer in found):
            assert all(answer.end == "failed" for answer in found)
            if one.status == 200 and one.method == "POST" and not one.is_hostile:
                plans = self._world.engine.plans[one.marker]
                for answer in found:
                    begins = any(plan.texts[1].startswith(answer.text) for plan in plans)
                    is_call = any(plan.calls for plan in plans)
                    assert begins or is_call, f"{answer} is not the beginning of any answer"
            self._is_refused_rightly(one, found[0].text)
            return
        asked = [found for found in self._asked[one.marker] if not found.is_void]
        if one.path in PASSED_ON:
            assert one.raw == asked[0].said, "not what the engine said"
            assert asked[0].end in ("whole", "hangs"), "a broken answer ends as a whole one does"
            return
        plans = self._world.engine.plans[one.marker]
        left = list(plans)
        for answer in sorted(found, key=lambda answer: -len(answer.text)):
            fitting = [plan for plan in left if self._fits(one, plan, answer)]
            texts = [plan.texts[1] for plan in left]
            assert fitting, f"{answer} is none of {texts}"
            left.remove(min(fitting, key=lambda plan: plan.calls))  # cut off, a call fits all
        assert not any(found.fault in EARLY for found in asked), "an engine's fault is hidden"
        assert one.size <= process.settings.max_body, "the body is too large"
        counted = USAGE.findall(one.raw)
        is_cut = any(found.continues for found in asked)
        if counted and not is_cut and all(answer.end == "done" for answer in found):
            sampled = sum(len(plan.sampled) for plan in plans)
            assert int(counted[-1]) == sampled, f"{counted[-1]} tokens of {sampled} are counted"

    def _is_answered_at_once(self, one: Exchange) -> None:
        """However many requests wait."""
        writes = (at for at, _ in one.connection.wire.peer.written if at >= one.begun)
        took = min(writes, default=one.ended) - one.whole_at
        assert took < MOST_CONNECTING or self._world.network.refusals, f"it took {took} s"
        if one.path == ABORT and one.status == 429:
            assert self._aborts_were_full(one), "it waits for a place"
        elif one.status != 200:
            is_full = len(one.request()) >= LARGE
            assert one.status != 429 or is_full, "it waits for a place"
            self._is_refused_rightly(one, one.answers()[0].text)
        elif one.path in MADE and one.path not in COUNTS:
            made = json.loads(one.raw)
            found = ENCODING.decode(made["tokens" if one.path == "/tokenize" else "token_ids"])
            assert MARKER.findall(found) == [one.marker], "another text"
        elif one.path == ABORT:
            [of] = MARKER.findall(one.body["request_ids"][0])
            keys = {other.key for other in self._exchanges if other.marker == of}
            running = (each for each in self._asked[of] if each.whole_at <= one.begun < each.ended)
            ends = (one.marker in each.aborted or each.ended <= one.ended for each in running)
            assert one.key not in keys or all(ends), "what was to end goes on"

    def _is_late(self, one: Exchange) -> bool:
        """Whether its time was up."""
        return one.ended - one.whole_at >= 0.99 * self._process(one).settings.request_timeout

    def _is_closed(self, one: Exchange, process: Any) -> bool:
        """Whether a message of this WebSocket may have been too large, or have had no room."""
        return any(
            other.size > process.settings.max_body or self._bodies_were_full(other, process)
            for other in self._exchanges
            if other.is_sent_with(one)
        )

    def _is_unheard(self, one: Exchange) -> bool:
        """Whether the server may close the connection without a word."""
        process = self._process(one)
        if process is None or one.whole_at >= process.ends_at - AT_ONCE:
            return True
        is_slow = min(one.whole_at, one.ended) - one.begun >= 0.9 * process.settings.body_timeout
        return is_slow or one.waited >= IDLE_SECONDS

    def _fits(self, one: Exchange, plan: Plan, answer: Understood) -> bool:
        text = plan.texts[1]
        if answer.end == "done":
            if answer.call:
                return plan.calls and {"text": text} == json.loads(answer.call)
            return answer.text == text
        assert answer.end == "length", answer
        most = self._most_tokens(one)
        assert most < len(plan.sampled) + 20, "cut off before the limit"
        return plan.calls or text.startswith(answer.text.rstrip("\ufffd"))

    def _most_tokens(self, one: Exchange) -> int:
        most = self._process(one).settings.max_output_tokens
        return min(most, self._world.keys.get(one.key, {}).get("tokens", most))

    def _ends_at(self, process: Any) -> float:
        return NEVER if process is None else float(process.ends_at)

    def _is_refused_rightly(self, one: Exchange, text: str) -> None:
        faults, process = self._plan_fault(one), self._process(one)
        status, took = one.status, one.ended - one.whole_at
        settings = process.settings
        # A WebSocket takes no more requests once the server ends.
        drains = 0 if one.is_message and status != 200 else settings.drain_timeout
        ends = one.ended >= self._ends_at(process) + drains - 0.01
        refused = any(one.whole_at <= at <= one.ended for at in self._world.network.refusals)
        fails = self._world.store_fails or self._world.network.hangs
        stored = fails and one.path.startswith(RESPONSES) and one.path not in MADE
        silent = faults & {"silence", "late silence"}
        # While one answer begins, the others' connections are not read.
        silent |= {found.end for found in self._asked[one.marker]} & {"hangs"}
        is_late = self._is_late(one) or (silent and took >= 0.99 * settings.engine_timeout)
        # What no store keeps is known to one WebSocket only.
        last = [other for other in self._exchanges if other.marker in one.chain[-1:]]
        is_new = one.is_message and last and last[0].connection is not one.connection
        rated = LEAST_RATE_SECONDS if one.padding else NEVER
        slow = 0.9 * min(settings.body_timeout, rated)
        is_busy = "busy" in faults or took >= 0.99 * settings.queue_timeout
        of_bodies = "bytes of bodies" in text
        right: dict[int, Callable[[], Any]] = {
            200: lambda: faults or ends or is_late or stored or refused,  # a stream
            400: lambda: "refused" in faults or one.is_hostile or one.foreign or is_new,
            401: lambda: one.key in self._world.wrong_keys,
            403: lambda: one.body.get("priority", 0) < 0 or self._were_too_many(one, process),
            404: lambda: one.foreign,
            408: lambda: min(one.whole_at, one.ended) - one.begun >= slow,
            413: lambda: one.size > settings.max_body,
            500: lambda: "failed" in faults,
            429: lambda: (
                (self._bodies_were_full if of_bodies else self._was_full)(one, process)
                or (is_busy and not of_bodies)
            ),
            502: lambda: faults - {"busy", "refused", "down"},
            503: lambda: "down" in faults or ends or stored or refused,
            504: lambda: is_late,
        }
        assert status in right, f"status {status}: {text}"
        assert right[status](), f"{status} without a reason: {text}"

    def _others(self, one: Exchange, process: Any) -> list[Exchange]:
        """Those that asked the same process at the same time."""
        # The store is waited for although a client has left.
        fails = self._world.store_fails or self._world.network.hangs
        after = AT_ONCE + (process.settings.store_timeout if fails else 0)
        return [
            other
            for other in self._exchanges
            if other is not one
            and other.method == "POST"
            and other.status != 401
            and self._process(other) is process
            and other.begun <= one.ended
            and self._seen(other) + after >= one.begun
        ]

    def _seen(self, one: Exchange) -> float:
        """When the server saw the end: what a client sent before it left may still be under way."""
        return (one.connection.wire.lost_at or NEVER) if one.left else one.ended

    def _was_full(self, one: Exchange, process: Any) -> bool:
        """Whether so many others may have been there that it could not even wait."""
        others = [other for other in self._others(one, process) if other.takes_place]
        total, own = len(others), sum(other.key == one.key for other in others)
        limits = self._world.keys.get(one.key, {})

        return any(
            self._lacks(found.max_running, running, mine, 1, limits.get("running"))
            and self._lacks(found.max_waiting, waiting, idle, 1, limits.get("waiting"))
            for since, found in process.history
            if since <= one.ended
            for running in range(total + 1)
            for mine in range(min(own, running) + 1)
            for waiting in [total - running]
            for idle in [min(own - mine, waiting)]
        )

    def _lacks(self, most: int, used: int, own: int, more: int, limit: int | None) -> bool:
        """Whether there is no room for a key that has some of what is used."""
        left = most - used - more
        is_fair = len(self._world.keys) > 1 and own > 0
        over = limit is not None and own + more > limit
        return left < 0 or over or (is_fair and own + more > 3 * left)

    def _bodies_were_full(self, one: Exchange, process: Any) -> bool:
        sizes = [(other, len(other.request())) for other in self._others(one, process)]
        large = [(other, size) for other, size in sizes if size >= LARGE]
        used = sum(size for _, size in large)
        own = sum(size for other, size in large if other.key == one.key)
        size, most = len(one.request()), process.settings.max_bodies
        return size >= LARGE and self._lacks(most, used, max(own, 1), size, None)

    def _aborts_were_full(self, one: Exchange) -> bool:
        process = self._process(one)
        keys = [other.key for other in self._others(one, process) if other.path == ABORT]
        return self._had_no_more(one, process, keys)

    def _had_no_more(self, one: Exchange, process: Any, keys: list[str]) -> bool:
        """Whether there was no room beside these keys', for ``max_running`` + ``max_waiting``."""
        limit = min(found.max_running + found.max_waiting for _, found in process.history)
        return self._lacks(limit, len(keys), keys.count(one.key), 1, None)

    def _were_too_many(self, one: Exchange, process: Any) -> bool:
        """Whether its key may have had no more WebSockets, of which one ends with its answers."""
        ending = AT_ONCE + process.settings.store_timeout
        others = {
            id(other.connection): other.key
            for other in self._exchanges
            if other.is_message
            and self._process(other) is process
            and other.connection is not one.connection
            and other.begun <= one.ended
            and (other.connection.wire.lost_at or NEVER) + ending >= one.begun
        }
        return one.is_message and self._had_no_more(one, process, list(others.values()))

    def is_sent_once(self, one: Exchange) -> None:
        """The engine is asked once for each answer, with the right limit, and no longer than needed."""
        asked = self._asked_for(one)
        if not one.takes_place:
            return
        counted = [found for found in asked if not found.is_void]
        first = [found for found in counted if not found.continues]
        more = [found for found in counted if found.continues]
        assert len(first) <= one.count, f"{len(first)} requests for {one.count} answers"
        assert len(more) <= one.count, f"{len(more)} continuations of {one.count} answers"
        process = self._process(one)
        if first:
            for found in first:
                assert found.most == min(self._most_tokens(one), 131_072 - len(found.prompt))
        ended = sorted(found.ended for found in first)
        for before, found in zip(ended, sorted(more, key=lambda found: found.began)):
            assert before <= found.began + AT_ONCE, "the engine continues a thought that ended"
            thought = len(found.prompt) - len(first[0].prompt) - len(FORCED) - THOUGHT_HEADER
            budget = process.settings.thinking_budget
            assert thought >= budget, f"a thought was ended after {thought} tokens, not {budget}"
        for found in more:
            whole = len(found.prompt) + found.most
            before = {len(other.prompt) + other.most for other in first}
            assert whole in before, "continued with another limit"
        if one.is_complete and one.status == 200 and not one.foreign and one.method == "POST":
            enough = len(first) == one.count or self._plan_fault(one)
            assert enough or len(asked) >= one.count, "an answer that the engine did not give"
        for found in asked:
            late = found.ended - max(self._seen(one), found.whole_at)
            assert late <= 2 * AT_ONCE, f"the engine samples for nobody, {late} s"
            identity = one.found.get("x-request-id", "")
            named = one.is_message or found.headers["x-request-id"].startswith(identity)
            assert named, "the engine was told another request's id"
            # While one answer begins, the others' connections are not read.
            trickles = one.count > 1 and any(
                plan.gap for plan in self._world.engine.plans[one.marker]
            )
            times = NEVER if one.slow or trickles else min(one.count, 2)
            patience = times * (process.settings.engine_timeout + AT_ONCE) + AT_ONCE
            assert found.silent <= patience, f"nothing was said for {found.silent} s"
            valid = [settings for at, settings in process.history if at <= found.began]
            is_new = process.history[-1][0] < one.whole_at and not one.left
            valid = valid[-1:] if is_new else valid
            assert any(each.engine.endswith(found.address) for each in valid), "the old engine"
        assert len({found.address for found in counted}) <= 1, "an answer of two engines"

    def as_many_as_allowed(self, process: Any) -> None:
        """Never more than ``max_running`` at once, nor fewer while somebody waits."""
        own, first = self._own(process), self._first
        times = {
            at
            for one in own
            for at in (one.whole_at + AT_ONCE, first[one.marker], self._seen(one), self._frees(one))
        }
        times |= {since for since, _ in process.history} | {
            at for here in self._world.network.busy for at in here
        }
        moments = sorted(at for at in times if at < process.term_at)
        starved = 0.0
        for at, then in zip(moments, [*moments[1:], moments[-1] if moments else 0]):
            served = [one for one in own if first[one.marker] <= at < self._frees(one)]
            valid = [found for since, found in process.history if since <= at + AT_ONCE]
            most = max(found.max_running for found in valid)
            assert len(served) <= most, f"{served} at once, {most} are allowed, at {at}"
            there = [one for one in own if self._asks_since(one) + AT_ONCE <= at < self._frees(one)]
            waiting = max(found.max_waiting for found in valid)
            about = f"{len(there) - most} wait, {waiting} may, at {at}: {there}"
            assert len(there) <= most + waiting, about
            for key in self._world.keys:
                self._has_its_share(key, most, waiting, served, there)
            sizes = sum(len(one.request()) for one in there if one.padding)
            is_full = sizes > process.settings.max_bodies
            assert not is_full, f"{sizes} bytes of bodies at {at}: {there}"
            now = next(found for since, found in reversed(process.history) if since <= at)
            pending = [one for one in there if first[one.marker] > at and not one.is_hostile]
            held = [one for one in own if first[one.marker] <= at < self._seen(one) + AT_ONCE]
            under_way = sum(
                here[0] - AT_ONCE <= at < here[1] + AT_ONCE for here in self._world.network.busy
            )
            left = now.max_running - len(held) - under_way
            # Where there are several keys, none gets more than three times what stays free.
            fair = [one for one in pending if self._may_have(one, held, left, under_way)]
            is_free = left > 0 and len(fair) > under_way
            starved = starved + then - at if is_free else 0.0
            about = f"{len(held)} of {now.max_running} answered, {under_way} connect"
            assert starved <= AT_ONCE, f"{about}, and others wait, at {at}: {pending} {held}"

    def in_turn(self, process: Any) -> None:
        """The oldest request of a key comes first, and keys take turns."""
        if self._world.network.refusals:
            return
        there = [(one, self._first[one.marker]) for one in self._own(process)]
        for one, began in there:
            since, until = self._asks_since(one) + AT_ONCE, min(began, self._frees(one))
            own = [each for each in there if each[0].key == one.key and each[0] is not one]
            # The engine is asked soon after a place is given.
            last = until - MOST_CONNECTING
            passed = [each for each, at in own if since <= each.whole_at <= at < last]
            assert not passed, f"{passed} came after {one}, and was first"
            # What is refused at its turn, the engine never hears of.
            turns = [
                each
                for each, at in own
                if each.ended + AT_ONCE >= since
                and (at < until or (each.ended < until and each.status not in (0, 429)))
            ]
            if not turns:
                passed = [each for each, at in there if since + MOST_CONNECTING <= at < last]
                assert len(passed) <= 1, f"{passed} have the turn of {one}"

    def _own(self, process: Any) -> list[Exchange]:
        """What a process was asked, and has read."""
        asked = [one for one in self._exchanges if one.takes_place and one.whole_at < NEVER]
        return [one for one in asked if self._process(one) is process]

    def _asks_since(self, one: Exchange) -> float:
        """When it asks for a place at the latest: what it refers to is read before."""
        hangs = self._world.network.hangs and one.path.startswith(RESPONSES)
        return one.whole_at + (self._world.processes[0].settings.store_timeout if hangs else 0)

    def _frees(self, one: Exchange) -> float:
        """Until when it surely has a place, or waits for one."""
        if "stream_id" not in one.body:
            return one.released
        # What it said last may wait for the other lanes' answers, which nobody reads; the engine
        # hears a little late that it was cancelled.
        late = {"cancelled": AT_ONCE}
        ends = (found.ended - late.get(found.end, 0.0) for found in self._asked_for(one))
        return min(max(ends, default=one.whole_at), one.released)

    def _has_its_share(self, key: str, most: int, waiting: int, served: Any, there: Any) -> None:
        """A key has no more than its own limit, nor more than three quarters beside another."""
        limits = self._world.keys[key]
        if len(self._world.keys) > 1:
            most, waiting = (min(one, max(1, 3 * one // 4)) for one in (most, waiting))
        most = min(most, limits.get("running", most))
        waiting = min(waiting, limits.get("waiting", waiting))
        own, all_own = ([one for one in some if one.key == key] for some in (served, there))
        assert len(own) <= most, f"{key} has {len(own)} places, {most} may be: {own}"
        assert len(all_own) <= most + waiting, f"{len(all_own)} of {key} are there: {all_own}"

    def _may_have(self, one: Exchange, held: list[Exchange], left: int, under_way: int) -> bool:
        """Whether a place may go to this one's key, of which so many are left."""
        # Those that connect may be of its key.
        own = under_way + sum(other.key == one.key for other in held)
        limit = self._world.keys.get(one.key, {}).get("running")
        return not self._lacks(left, 0, own, 1, limit)

    def ids_are_unique(self) -> None:
        found = (
            one.found.get("x-request-id")
            for one in self._exchanges
            if "x-request-id" not in one.headers
        )
        ids = Counter([*self._ids, *filter(None, found)])
        assert not ids or max(ids.values()) == 1, "two answers of one id"
        if len(self._world.processes) > 1:
            return
        # What was given up may still be under way to the engine.
        until = {one.marker: one.ended for one in self._exchanges if one.method == "POST"}
        asked = sorted(self._world.engine.asked, key=lambda one: one.whole_at)
        for one, other in itertools.combinations(asked, 2):
            is_same = one.headers["x-request-id"] == other.headers["x-request-id"]
            ended = min(one.ended, until[one.marker]) - AT_ONCE
            are_there = other.whole_at < min(ended, until[other.marker] - AT_ONCE)
            assert one.is_void or not (is_same and are_there), "an id twice at once"

    def all_is_given_back(self) -> None:
        for process in self._world.processes:
            limits = process.gateway.limits
            assert (limits.running, limits.waiting) == (0, 0), "places are left"
            assert process.gateway.work.share.used == 0, "threads are left"
            assert process.gateway.bodies.held == 0, "bytes of bodies are left"
            running = process.gateway.journal.metrics().decode()
            assert "harmony_requests_running 0.0" in running
            store = process.app.state.store
            assert store is None or store.share.used == 0, "questions to the store are left"
            patience = min(process.settings.engine_timeout, MOST_TO_CONNECT)
            longest = max((end - begun for begun, end in self._world.network.busy), default=0.0)
            assert longest <= patience + 1, f"{longest} s for a connection"  # aiohttp rounds up
        open_wires = [wire for wire in self._world.network.open if not wire.is_lost]
        assert not open_wires, f"connections are left: {[vars(wire) for wire in open_wires]}"

"""What holds in all worlds, seen from outside: by what clients and the engine saw, and when."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

from openai_harmony.serve.settings import Settings
from simulation.simulated_clients import RESPONSES, Exchange, Understood
from simulation.simulated_engine import EARLY, MARKER, Asked, Plan

NEVER = float("inf")
AT_ONCE = 0.5
"""Seconds within which what needs nobody else happens, threads and connections included."""
LAST_SECONDS = 2.5
"""So long an answer may take to end once its time is up."""


class Laws:
    """About one world that has ended."""

    def __init__(self, world: Any) -> None:
        self._world = world
        self._exchanges: list[Exchange] = world.exchanges
        self._asked: dict[str, list[Asked]] = {one.marker: [] for one in self._exchanges}
        for asked in world.engine.asked:
            self._asked[asked.marker].append(asked)

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

    def _most(self, process: Any, at: float, value: Callable[[Settings], Any]) -> Any:
        """The largest of the values that counted up to then."""
        return max(value(settings) for since, settings in process.history if since <= at + AT_ONCE)

    def _plan_fault(self, one: Exchange) -> set[str]:
        return {plan.fault for plan in self._world.engine.plans.get(one.marker, ()) if plan.fault}

    def ends_in_time(self, one: Exchange) -> None:
        """Every request ends, by an answer or with its connection."""
        if one.left or (process := self._process(one)) is None:
            return
        settings = process.history[0][1]

        def longest(name: str) -> float:
            return float(self._most(process, NEVER, lambda found: getattr(found, name)))

        if one.stops:
            latest = one.begun + 2 * longest("body_timeout") + AT_ONCE
            latest += longest("client_timeout") + 5 if one.slow else 0
        else:
            answer = 2 * longest("request_timeout") + longest("client_timeout")
            latest = one.whole_at + longest("queue_timeout") + answer + LAST_SECONDS + AT_ONCE
        drained = process.ends_at + settings.drain_timeout + LAST_SECONDS + AT_ONCE
        drained += AT_ONCE if not one.slow else longest("client_timeout") + 5
        latest = min(latest, max(drained, one.begun + AT_ONCE))
        assert one.ended <= latest, f"it ended {one.ended - latest} s too late"

    def is_its_own(self, one: Exchange) -> None:
        """No text, field or item of another request."""
        own = {one.marker, *one.chain}
        there = set(MARKER.findall(one.raw.decode(errors="replace")))
        there = {marker for marker in there if marker in self._world.markers}
        assert there <= own, f"another request's text: {there - own}"
        if one.foreign and one.status == 200:
            raise AssertionError("somebody else's response")
        for asked in self._asked.get(one.marker, ()) if one.method == "POST" else ():
            markers = [marker for marker in asked.markers if marker in self._world.markers]
            found = list(dict.fromkeys(markers))
            expected = [*one.chain, one.marker]
            assert found == expected, f"the engine was asked {found}, not {expected}"
            self._fields_are_its_own(one, asked)

    def _fields_are_its_own(self, one: Exchange, asked: Asked) -> None:
        kind = self._world.engine.kind
        names = ["temperature"]
        if kind.startswith("vllm"):
            names += ["cache_salt", "priority", "min_tokens"]
        for name in names:
            given = one.body.get(name)
            if one.path.startswith("/api/") and name == "temperature":
                given = one.body.get("options", {}).get(name)
            assert asked.body.get(name) == given, f"{name} is {asked.body.get(name)}, not {given}"

    def is_meant(self, one: Exchange) -> None:
        """Every answer is what the model's tokens mean, or ends as its API says failures end."""
        assert one.status != 500, one.raw
        if one.left or one.stops:
            return
        process = self._process(one)
        if not one.is_complete:
            # Nobody heard it, or it did not read.
            settings = process.settings if process else None
            patience = settings and min(settings.client_timeout, settings.body_timeout)
            is_taken = patience and one.slow > patience / 4
            is_gone = one.begun >= self._ends_at(process) - AT_ONCE and not one.status
            if not self._asked.get(one.marker) and one.reads == 0 and self._is_idle_closed(one):
                return
            assert is_taken or is_gone, "nothing ends it"
            return
        if one.method != "POST" and one.status == 200:
            return
        found = one.answers()
        if any(answer.end == "failed" for answer in found):
            assert all(answer.end == "failed" for answer in found)
            self._is_refused_rightly(one, found[0].text)
            return
        plans = self._world.engine.plans[one.marker]
        left = list(plans)
        for answer in sorted(found, key=lambda answer: -len(answer.text)):
            fitting = [plan for plan in left if self._fits(one, plan, answer)]
            texts = [plan.texts[1] for plan in left]
            assert fitting, f"{answer} is none of {texts}"
            left.remove(fitting[0])
        asked = [found for found in self._asked[one.marker] if not found.is_void]
        assert not any(found.fault in EARLY for found in asked), "an engine's fault is hidden"

    def _is_idle_closed(self, one: Exchange) -> bool:
        """Whether the server closed the connection while it waited: clients ask again."""
        return one.begun > 0

    def _fits(self, one: Exchange, plan: Plan, answer: Understood) -> bool:
        text = plan.texts[1]
        if answer.end == "done":
            if answer.call:
                return plan.calls and {"text": text} == json.loads(answer.call)
            return answer.text == text
        assert answer.end == "length", answer
        process = self._process(one)
        most = min(settings.max_output_tokens for _, settings in process.history)
        assert most < len(plan.sampled) + 20, "cut off before the limit"
        return plan.calls or text.startswith(answer.text.rstrip("\ufffd"))

    def _ends_at(self, process: Any) -> float:
        return NEVER if process is None else float(process.ends_at)

    def _is_refused_rightly(self, one: Exchange, text: str) -> None:
        faults, process = self._plan_fault(one), self._process(one)
        status, took = one.status, one.ended - one.whole_at
        settings = process.settings
        ends = one.ended >= self._ends_at(process) - 0.01
        if status == 200:  # a stream
            late = one.ended - one.whole_at >= 0.99 * min(
                found.request_timeout for _, found in process.history
            )
            stored = self._world.store_fails and one.path.startswith(RESPONSES)
            assert faults or ends or late or stored or self._world.engine_restarts, "it failed"
        elif status == 429:
            full = self._was_full(one, process)
            waited = took >= 0.99 * min(found.queue_timeout for _, found in process.history)
            assert "busy" in faults or full or waited, f"refused where a place was free: {text}"
        elif status == 400:
            assert "refused" in faults or one.is_hostile or one.foreign, text
        elif status == 404:
            assert one.foreign or one.method == "GET", text
        elif status == 401:
            assert one.headers.get("authorization") in self._world.wrong_keys, text
        elif status == 408:
            assert one.pause * one.pieces >= 0.9 * settings.body_timeout, text
        elif status == 504:
            limit = min(found.request_timeout for _, found in process.history)
            silent = faults & {"silence", "late silence"}
            assert took >= 0.99 * limit or (silent and took >= 0.99 * settings.engine_timeout), text
        elif status == 503:
            stored = self._world.store_fails and one.path.startswith(RESPONSES)
            refused = self._world.network.refusals > 0
            assert "down" in faults or ends or stored or refused, text
        elif status == 502:
            assert faults - {"busy", "refused", "down"} or self._world.engine_restarts, text
        else:
            raise AssertionError(f"status {status}: {text}")

    def _was_full(self, one: Exchange, process: Any) -> bool:
        """Whether so many others were there that it could not even wait."""
        others = [
            other
            for other in self._exchanges
            if other is not one
            and self._process(other) is process
            and other.begun <= one.ended
            and other.ended + AT_ONCE >= one.whole_at
        ]
        limit = min(
            settings.max_running + settings.max_waiting
            for since, settings in process.history
            if since <= one.ended
        )
        key = one.headers.get("authorization")
        own = [other for other in others if other.headers.get("authorization") == key]
        return bool(len(others) >= limit or (self._world.keys and own))

    def is_sent_once(self, one: Exchange) -> None:
        """The engine is asked once for each answer, with the right limit, and no longer than needed."""
        if one.method != "POST":
            return
        asked = self._asked.get(one.marker, [])
        counted = [found for found in asked if not found.is_void]
        first = [found for found in counted if not found.continues]
        more = [found for found in counted if found.continues]
        assert len(first) <= one.count, f"{len(first)} requests for {one.count} answers"
        assert len(more) <= one.count, f"{len(more)} continuations of {one.count} answers"
        process = self._process(one)
        if first:
            most = [settings.max_output_tokens for _, settings in process.history]
            for found in first:
                assert found.most in [min(limit, 131_072 - len(found.prompt)) for limit in most]
        for found in more:
            whole = len(found.prompt) + found.most
            before = {len(other.prompt) + other.most for other in first}
            assert whole in before, "continued with another limit"
        if one.is_complete and one.status == 200 and not one.foreign and one.method == "POST":
            enough = len(first) == one.count or self._plan_fault(one)
            assert enough or len(asked) >= one.count, "an answer that the engine did not give"
        for found in asked:
            late = found.ended - max(one.ended, found.began)
            assert late <= 2 * AT_ONCE, f"the engine samples for nobody, {late} s"

    def as_many_as_allowed(self, process: Any) -> None:
        """Never more than ``max_running`` at once, nor fewer while somebody waits."""
        own = [
            one
            for one in self._exchanges
            if self._process(one) is process and one.method == "POST" and one.whole_at < NEVER
        ]
        first = {
            id(one): min((found.began for found in self._asked.get(one.marker, ())), default=NEVER)
            for one in own
        }
        times = {
            at
            for one in own
            for at in (one.whole_at + AT_ONCE, first[id(one)], one.ended, one.released)
        }
        times |= {since for since, _ in process.history} | {
            at for here in self._world.network.busy for at in here
        }
        moments = sorted(at for at in times if at < process.term_at)
        starved = 0.0
        for at, then in zip(moments, [*moments[1:], moments[-1] if moments else 0]):
            served = [one for one in own if first[id(one)] <= at < one.released]
            most = self._most(process, at, lambda found: found.max_running)
            assert len(served) <= most, f"{served} at once, {most} are allowed, at {at}"
            there = [one for one in own if one.whole_at + AT_ONCE <= at < one.released]
            waiting = self._most(process, at, lambda found: found.max_waiting)
            assert len(there) <= most + waiting, (
                f"{len(there) - most} wait, {waiting} may, at {at}: {there}"
            )
            now = next(found for since, found in reversed(process.history) if since <= at)
            pending = [one for one in there if first[id(one)] > at and not one.is_hostile]
            held = [one for one in own if first[id(one)] <= at < one.ended + AT_ONCE]
            under_way = sum(
                here[0] - AT_ONCE <= at < here[1] + AT_ONCE for here in self._world.network.busy
            )
            left = now.max_running - len(held) - under_way
            # Where there are several keys, none gets more than three times what stays free.
            fair = [one for one in pending if self._may_have(one, held, left)]
            is_free = left > 0 and len(fair) > under_way
            starved = starved + then - at if is_free else 0.0
            about = f"{len(held)} of {now.max_running} answered, {under_way} connect"
            assert starved <= AT_ONCE, f"{about}, and others wait, at {at}: {pending} {held}"

    def _may_have(self, one: Exchange, held: list[Exchange], left: int) -> bool:
        """Whether a place may go to this one's key, of which so many are left."""
        key = one.headers.get("authorization")
        own = sum(other.headers.get("authorization") == key for other in held)
        return not self._world.keys or own == 0 or own + 1 <= 3 * (left - 1)

    def ids_are_unique(self) -> None:
        ids = Counter(
            one.found["x-request-id"] for one in self._exchanges if "x-request-id" in one.found
        )
        assert not ids or max(ids.values()) == 1, "two answers of one id"

    def all_is_given_back(self) -> None:
        for process in self._world.processes:
            limits = process.gateway.limits
            assert (limits.running, limits.waiting) == (0, 0), "places are left"
            assert process.gateway.bodies.held == 0, "bytes of bodies are left"
            running = process.gateway.journal.metrics().decode()
            assert "harmony_requests_running 0.0" in running
        open_wires = [wire for wire in self._world.network.open if not wire.is_lost]
        assert not open_wires, f"connections are left: {[vars(wire) for wire in open_wires]}"

"""Sampled tokens to the chunks of a streamed answer, beside the parser that they rest on.

Both answer with the contents of all messages, so that they can be compared: `Fed` from the parser's
events, `Answered` from the bytes that a client would get.
"""

from __future__ import annotations

import json
from typing import Any

from .tasks import Json, Stream


class Fed(Stream):
    """`feed` and `finish` of a lenient parser, so many tokens at a time, its events included."""

    def __init__(self, peer: Any, given: Json) -> None:
        super().__init__(self._texts, peer, given)
        self._parser = peer.module.StreamableParser
        self._role = peer.module.Role.ASSISTANT
        self._pieces = pieces(self._tokens, given["size"])

    def run(self, fresh: Any) -> None:
        parser = self._parser(self._encoding, self._role, strict=False)
        for tokens in self._pieces:
            parser.feed(tokens)
        parser.finish()

    def _texts(self, encoding: Any, tokens: list[int]) -> dict[str, str]:
        parser = self._parser(encoding, self._role, strict=False)
        events = [event for tokens in self._pieces for event in parser.feed(tokens)]
        events += parser.finish()
        texts = {"analysis": "", "final": ""}
        channel = ""
        for event in events:
            channel = getattr(event, "channel", channel)
            texts[channel] += getattr(event, "text", "")
        return texts


class Answered(Stream):
    """`feed_bytes` and `finish_bytes` of a reply of chat completions."""

    def __init__(self, peer: Any, given: Json) -> None:
        super().__init__(self._texts, peer, given)
        from openai_harmony.interop import chat_completions

        question = {"role": "user", "content": "Tell me all about it."}
        self._turn = chat_completions.read({"messages": [question], "stream": True})
        self._prompt_tokens = len(self._turn.prompt(self._encoding))
        self._pieces = pieces(self._tokens, given["size"])

    def run(self, fresh: Any) -> None:
        reply = self._reply()
        for tokens in self._pieces:
            reply.feed_bytes(tokens)
        reply.finish_bytes("stop")

    def _reply(self) -> Any:
        count = self._prompt_tokens
        return self._turn.reply(self._encoding, model="gpt-oss-20b", prompt_tokens=count)

    def _texts(self, encoding: Any, tokens: list[int]) -> dict[str, str]:
        reply = self._reply()
        sent = [reply.feed_bytes(tokens) for tokens in self._pieces]
        sent.append(reply.finish_bytes("stop"))
        frames = b"".join(sent).decode().split("\n\n")
        texts = {"analysis": "", "final": ""}
        for frame in frames[: frames.index("data: [DONE]")]:
            delta = json.loads(frame[len("data: ") :])["choices"][0]["delta"]
            texts["analysis"] += delta.get("reasoning_content", "")
            texts["final"] += delta.get("content", "")
        return texts


def pieces(tokens: list[int], size: int) -> list[list[int]]:
    """The tokens as an engine hands them over."""
    return [tokens[start : start + size] for start in range(0, len(tokens), size)]

"""llama.cpp's grammars, called as C: the wheel xllamacpp has the functions of `llama.h`, and no names for these."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy
from xllamacpp import xllamacpp

SIZE = 201_088
STOPS = (200_002, 200_012)
_TOKENS = numpy.dtype([("id", "i4"), ("logit", "f4"), ("p", "f4")])


class _Params(ctypes.Structure):
    """Of a model; larger than what any version has, since they are handed on as they came."""

    _fields_ = (("bytes", ctypes.c_byte * 1024),)


class _Candidates(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("size", ctypes.c_size_t),
        ("selected", ctypes.c_int64),
        ("is_sorted", ctypes.c_bool),
    )


def _function(name: str, result: Any, *arguments: Any) -> Any:
    found = getattr(_LIBRARY, name)
    found.restype, found.argtypes = result, arguments
    return found


_LIBRARY = ctypes.CDLL(xllamacpp.__file__)
_P = ctypes.c_void_p
_QUIET = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, _P)(lambda *_: None)
_log_set = _function("llama_log_set", None, type(_QUIET), _P)
_default_params = _function("llama_model_default_params", _Params)
_load = _function("llama_model_load_from_file", _P, ctypes.c_char_p, _Params)
_vocab = _function("llama_model_get_vocab", _P, _P)
_init = _function("llama_sampler_init_grammar", _P, _P, ctypes.c_char_p, ctypes.c_char_p)
_clone = _function("llama_sampler_clone", _P, _P)
_accept = _function("llama_sampler_accept", None, _P, ctypes.c_int32)
_apply = _function("llama_sampler_apply", None, _P, _P)
_free = _function("llama_sampler_free", None, _P)


class Vocabulary:
    """Of a model that is loaded for it."""

    def __init__(self, model: Path) -> None:
        _log_set(_QUIET, None)
        loaded = _load(str(model).encode(), _default_params())
        assert loaded
        self.pointer = _vocab(loaded)


class Grammar:
    """A grammar that is compiled once; states are copies of it."""

    def __init__(self, vocabulary: Vocabulary, gbnf: str) -> None:
        self.pointer = _init(vocabulary.pointer, gbnf.encode(), b"root")
        if not self.pointer:
            raise ValueError("llama.cpp takes no such grammar")

    def __del__(self) -> None:
        if self.pointer:
            _free(self.pointer)


class State:
    """A place in a turn. Its masks have the candidates alone, as long as one of them may follow."""

    def __init__(self, grammar: Grammar, candidates: Any = None) -> None:
        self._sampler = _clone(grammar.pointer)
        self._candidates = numpy.arange(SIZE) if candidates is None else candidates
        self._is_stopped = False

    def __del__(self) -> None:
        _free(self._sampler)

    def _allowed(self, tokens: Any) -> Any:
        data = numpy.zeros(len(tokens), _TOKENS)
        data["id"] = tokens
        found = _Candidates(data.ctypes.data, len(data), -1, False)
        _apply(self._sampler, ctypes.byref(found))
        return data["id"][: found.size][data["logit"][: found.size] > -1e30]

    def mask(self) -> bytes:
        bits = numpy.zeros(SIZE, numpy.uint8)
        allowed = self._allowed(self._candidates)
        bits[allowed if len(allowed) else self._allowed(numpy.arange(SIZE))] = 1
        return bytes(numpy.packbits(bits, bitorder="little"))

    def take(self, token: int) -> bool:
        if self._is_stopped or not len(self._allowed([token])):
            return False
        _accept(self._sampler, token)
        self._is_stopped = token in STOPS  # where a server stops; the grammar takes more of them
        return True

    def is_ended(self) -> bool:
        raise NotImplementedError("a stop token shows it, which llama.cpp takes there alone")

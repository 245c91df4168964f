"""Fields that version 0.0.8 lacks, in models that it has."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel, SerializerFunctionWrapHandler, model_serializer


class WithNewFields(BaseModel):
    """A model that shares pickles, dumps and stores with 0.0.8.

    Fields that 0.0.8 lacks are shown, dumped and pickled only where they are set. Pickles without
    them get the defaults.
    """

    @classmethod
    def _new_fields(cls) -> tuple[str, ...]:
        """The names of these fields.

        A method, since old versions of pydantic take a variable for a private attribute.
        """
        raise NotImplementedError

    def _unset(self) -> set[str]:
        fields = type(self).model_fields
        return {
            name
            for name in self._new_fields()
            if name not in self.model_fields_set
            # It may have been changed in place.
            and getattr(self, name) == fields[name].get_default(call_default_factory=True)
        }

    # A return type would replace the fields in the JSON Schema.
    @model_serializer(mode="wrap")
    def _write(self, write: SerializerFunctionWrapHandler):  # type: ignore[no-untyped-def]
        unset = self._unset()
        return {name: value for name, value in write(self).items() if name not in unset}

    def __repr_args__(self) -> Iterable[tuple[str | None, Any]]:
        unset = self._unset()
        return [(name, value) for name, value in super().__repr_args__() if name not in unset]

    def __getstate__(self) -> dict[Any, Any]:
        state, unset = super().__getstate__(), self._unset()
        fields = {name: value for name, value in state["__dict__"].items() if name not in unset}
        return {**state, "__dict__": fields}

    def __setstate__(self, state: dict[Any, Any]) -> None:
        super().__setstate__(state)
        for name in self._new_fields():
            if name not in self.__dict__:
                default = type(self).model_fields[name].get_default(call_default_factory=True)
                self.__dict__[name] = default

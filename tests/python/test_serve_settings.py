"""The gateway's settings: what each one takes, what a file of them holds, and what changes while it runs."""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("aiohttp")
pytest.importorskip("prometheus_client")
pytest.importorskip("sqlalchemy")
pytest.importorskip("starlette")

from gateways import says
from openai_harmony import serve
from openai_harmony.serve.configuration import Configuration, Source
from openai_harmony.serve.engines import EngineError
from openai_harmony.serve.settings import Settings, dashed, read_file
from tables import table

OPERATE = Path(__file__).parents[2] / "docs" / "operate.md"
DEFAULTS = Settings().model_dump()


def test_a_name_that_is_not_a_setting() -> None:
    with pytest.raises(ValueError, match="max_runing is not a setting; did you mean max_running"):
        Settings().with_(max_runing=3)


def test_the_least_of_each_number() -> None:
    """Whatever has a default that is a number takes no text, flag or infinity, and nothing below 0."""
    for name, default in DEFAULTS.items():
        if type(default) not in (int, float):
            continue
        wrong: Any
        for wrong in (-1, "1", True, None, float("nan"), float("inf")):
            with pytest.raises(ValueError, match=name):
                Settings().with_(**{name: wrong})
        assert getattr(Settings().with_(**{name: 1}), name) == 1


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    table("serve_settings", "values"),
)
def test_values(name: str, right: list[Any], wrong: Any) -> None:
    for value in right:
        assert getattr(Settings(**{name: value}), name) == value
    with pytest.raises(ValueError, match=name):
        Settings(**{name: wrong})


def test_a_misspelt_setting_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "serve.toml"
    for name in DEFAULTS:
        misspelt = name + name[-1]
        for written in (misspelt, dashed(misspelt)):
            file.write_text(f"{written} = 1\n")
            with pytest.raises(ValueError, match=rf"; did you mean {dashed(name)}\?$"):
                read_file(file)
    file.write_text("zzz = 1\n")
    with pytest.raises(ValueError, match=r"zzz is not a setting \(known: engine, .*, traces\)$"):
        read_file(file)


def test_settings_and_single_ones_both_count() -> None:
    with pytest.raises(ValueError, match=r"port: .*, as `uvicorn --port 80`"):
        serve.app("none", port=80)
    app = serve.app(says(), Settings(max_answers=2, max_body=7), max_body=8)
    found = app.state.gateway.settings
    assert (found.max_answers, found.max_body) == (2, 8)
    assert serve.app(says(), Settings(max_answers=3)).state.gateway.settings.max_answers == 3


def other_than(name: str, folder: Path) -> Any:
    """A value that is not the default."""
    given: dict[str, Any] = {
        "engine": "none=4096",
        "host": "::1",
        "thinking_budget": 5,
        "unsupported": "placeholder",
        "render_prompts": "harmony",
        "cors": "*",
        "api_key_file": str(folder / "keys"),
    }
    default = DEFAULTS[name]
    if name in given:
        return given[name]
    if isinstance(default, bool):
        return not default
    return default + 1 if type(default) in (int, float) else "other"


def again(before: Settings, after: Settings) -> Configuration | None:
    return Source(Configuration.of(before), lambda: after).again()


def only_at_start() -> list[str]:
    """The settings that need a restart, by the document."""
    found = re.search(r"((?:`[a-z-]+`,\s)+)and a model in\sthe same process", OPERATE.read_text())
    assert found is not None
    return re.findall("`([a-z-]+)`", found[1])


@pytest.mark.parametrize("name", DEFAULTS)
def test_each_setting_changes_while_it_runs_or_is_said_not_to(
    name: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "openai_harmony.serve")
    (tmp_path / "keys").write_text("alpha\nbeta\n")
    before = Settings(engine="none")
    after = before.with_(**{name: other_than(name, tmp_path)})
    found = again(before, after)
    assert found is not None
    events = [record.getMessage() for record in caplog.records]
    about: dict[str, Any] = caplog.records[-1].fields  # type: ignore[attr-defined]
    if dashed(name) in only_at_start():
        said = f"these settings change only by a new start: {dashed(name)}"
        assert events == [said, "the configuration was read again"]
        assert (found.settings, about["changed"]) == (before, [])
    else:
        assert events == ["the configuration was read again"]
        assert (found.settings, about["changed"]) == (after, [dashed(name)])
    keys = 2 if name == "api_key_file" else 0
    assert (about["keys"], about["keys_added"], about["keys_removed"]) == (keys, keys, 0)


@pytest.mark.parametrize(
    ("before", "after", "changes"),
    table("serve_settings", "a model in this process stays"),
)
def test_a_model_in_this_process_stays(
    before: str, after: str, changes: bool | None, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "openai_harmony.serve")
    found = again(Settings(engine=before), Settings(engine=after))
    assert found is not None
    assert found.settings.engine == (after if changes else before)
    warned = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    said = "these settings change only by a new start: engine"
    assert warned == ([said] if changes is False else [])


def test_only_another_engine_is_connected_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    gone = f"replay={tmp_path / 'gone.jsonl'}"
    found = again(Settings(engine=gone), Settings(engine=gone, max_answers=2))
    assert found is not None
    assert found.settings.max_answers == 2
    assert again(Settings(engine="none"), Settings(engine=gone)) is None
    [error] = [record for record in caplog.records if record.levelname == "ERROR"]
    assert error.getMessage().startswith("the configuration stays as it is: ")
    assert "gone.jsonl" in error.getMessage()


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ValueError("max_answers: expected more"), "max-answers: expected more"),
        (OSError("no such_file"), "no such_file"),
        (EngineError("a_b: nothing there"), "a_b: nothing there"),
    ],
)
def test_what_cannot_be_read_again_changes_nothing(
    error: Exception, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    def read() -> Settings:
        raise error

    assert Source(Configuration.of(Settings(engine="none")), read).again() is None
    assert [record.getMessage() for record in caplog.records] == [
        f"the configuration stays as it is: {said}"
    ]

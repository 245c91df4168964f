"""The module for JavaScript in Chromium: the corpus, the golden renderings, and the site's page. `make browser`."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILES = [f"conformance/{name}.json" for name in ("headers", "outputs", "malformed")]
WASM = ROOT / "javascript" / "harmony.wasm"
pytestmark = pytest.mark.skipif(
    not WASM.is_file(), reason="make wasm builds javascript/harmony.wasm"
)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The page with the module beside it, as `make docs` lays them out, on loopback."""
    folder = tmp_path_factory.mktemp("site")
    shutil.copytree(ROOT / "docs" / "try", folder, dirs_exist_ok=True)
    for name in ("harmony.js", "harmony.wasm"):
        shutil.copy(ROOT / "javascript" / name, folder)

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/index.html"
        server.shutdown()


@pytest.fixture
def page(browser: Any, address: str) -> Iterator[Any]:
    browser.get(address)
    ready = "return document.body.dataset.ready"
    from selenium.webdriver.support.ui import WebDriverWait

    WebDriverWait(browser, 30, 0.05).until(lambda _: browser.execute_script(ready) == "yes")
    yield browser
    logged = [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]
    assert [entry for entry in logged if "favicon" not in entry["message"]] == []


def ask(browser: Any, script: str, given: Any) -> Any:
    """What a script returns that has the module as `harmony`. The driver would sort the keys of objects."""
    return browser.execute_async_script(
        "const done = arguments[1], given = JSON.parse(arguments[0]);"
        "import('./harmony.js').then(({load}) => load()).then((harmony) => {" + script + "})"
        ".then(done, (error) => done(String(error)));",
        json.dumps(given),
    )


def test_the_corpus(page: Any) -> None:
    files = [json.loads((ROOT / name).read_text("utf-8"))["cases"] for name in FILES]
    cases = [case for file in files for case in file]
    found = ask(
        page,
        "return given.map(({text, tokens, role}) =>"
        " harmony.parse(tokens ?? harmony.encode(text, {special: true}), {role}))",
        cases,
    )
    assert isinstance(found, list), found
    for case, said in zip(cases, found, strict=True):
        read = [
            {name: one[name] for name in wanted if name in one}
            for one, wanted in zip(said["messages"], case["messages"], strict=True)
        ]
        assert read == case["messages"], case["name"]
        kinds = [repair["kind"] for repair in said["repairs"]]
        assert kinds == [repair["kind"] for repair in case["repairs"]], case["name"]


def test_the_golden_renderings(page: Any) -> None:
    endings = {"conversation": "none", "completion": "completion", "training": "training"}
    asked: list[Any] = []
    expected: list[Any] = []
    for path in sorted((ROOT / "tests/golden").glob("*/tokens.json")):
        options = json.loads(path.with_name("options.json").read_text("utf-8")).get("render", {})
        named = {"renderer", "next_role", "auto_drop_analysis"}
        # A single message, and options that only Python names as it does, are not asked for.
        if options.get("renderer") not in endings or set(options) - named:
            continue
        asked_for: dict[str, Any] = {"ending": endings[options["renderer"]]}
        if "next_role" in options:
            asked_for["role"] = options["next_role"]
        if not options.get("auto_drop_analysis", True):
            asked_for["config"] = {"thoughts": "keep"}
        conversation = json.loads(path.with_name("conversation.json").read_text("utf-8"))
        asked.append([conversation, asked_for])
        expected.append(json.loads(path.read_text("utf-8")))
    assert len(asked) > 60
    found = ask(
        page, "return given.map(([one, options]) => [...harmony.render(one, options)])", asked
    )
    assert found == expected


def test_the_page(page: Any) -> None:
    def text(name: str) -> str:
        return str(page.find_element("id", name).text)

    def write(name: str, value: str) -> None:
        page.execute_script(
            "const box = document.getElementById(arguments[0]); box.value = arguments[1];"
            "box.dispatchEvent(new Event('input'));",
            name,
            value,
        )

    assert "type get_weather = (_: {" in text("prompt")
    assert text("prompt").endswith("<|start|>assistant")
    assert text("repairs") == "repaired: missing_message"
    assert json.loads(text("messages"))[1]["recipient"] == "functions.get_weather"
    write("body", '{"messages": "Hi"}')
    assert text("prompt").startswith("messages: ")
    write("body", "{")
    assert text("prompt") != ""
    evil = "<img src=x onerror='window.hurt = 1'>"
    write("body", json.dumps({"messages": [{"role": "user", "content": evil}]}))
    assert evil in text("prompt")
    write("sampled", f"<|channel|>final<|message|>{evil}<|return|>")
    assert json.loads(text("messages"))[0]["content"] == evil
    assert page.execute_script("return window.hurt") is None

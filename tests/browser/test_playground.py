"""The playground in Chromium: `make browser`.

Needs Debian's packages `chromium` and `chromium-driver`, or what is named the same; skipped where they
are missing.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

pytest.importorskip("selenium")

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

EVIL = '<script>window.hurt = 1</script><img src=x onerror="window.hurt = 2"> </textarea>'


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    running = subprocess.Popen(
        [sys.executable, "-m", "openai_harmony", "playground", "--no-browser"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert running.stdout is not None
        yield running.stdout.readline().strip()
    finally:
        running.terminate()
        running.communicate(timeout=20)


@pytest.fixture
def page(browser: Any, address: str) -> Iterator[Page]:
    opened = Page(browser, address)
    opened.open()
    yield opened
    wrong = [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]
    # The server refuses what the tests give it on purpose.
    assert [entry for entry in wrong if "422" not in entry["message"]] == []


class Page:
    """What a person sees and does."""

    def __init__(self, browser: Any, address: str) -> None:
        self.browser = browser
        self.address = address

    def open(self) -> None:
        self.browser.get("about:blank")
        self.browser.get(self.address)
        self.until(
            lambda: self.browser.execute_script("return document.body.dataset.ready") == "yes"
        )

    def until(self, holds: Callable[[], Any]) -> None:
        WebDriverWait(self.browser, 15, 0.05, ignored_exceptions=[Exception]).until(
            lambda _: holds()
        )

    def at(self, name: str) -> Any:
        return self.browser.find_element(By.ID, name)

    def text(self, name: str) -> str:
        return str(self.at(name).text)

    def write(self, name: str, text: str) -> None:
        # As pasted: characters beyond the basic plane cannot be typed by the driver.
        self.browser.execute_script(
            "const box = document.getElementById(arguments[0]); box.value = arguments[1];"
            "box.dispatchEvent(new Event('input'));",
            name,
            text,
        )

    def open_options(self) -> None:
        self.browser.execute_script("document.getElementById('options').open = true")

    def choose(self, name: str, text: str) -> None:
        Select(self.at(name)).select_by_visible_text(text)


def test_an_example_is_there_at_once(page: Page) -> None:
    assert "tokens, read as chat_completions" in page.text("prompt-facts")
    assert "0 system" in page.text("prompt")
    assert "to functions.get_weather" in page.text("answer")
    chunks = page.text("chunks")
    assert chunks.startswith('{"role":"assistant","content":""} {"id":"answer"')
    assert '"finish_reason":"tool_calls"' in chunks


def test_the_prompt_is_above_the_fold(page: Page) -> None:
    """On a laptop's screen, with the defaults said."""
    top = page.browser.execute_script(
        "return document.getElementById('prompt').getBoundingClientRect().top"
    )
    assert top < 500
    page.open_options()
    assert "default: dropped of completed turns" in page.text("thoughts")
    assert "4 MiB" in page.browser.find_element(By.TAG_NAME, "footer").text


def test_each_side_works_without_the_other(page: Page) -> None:
    page.write("body", "{")
    page.until(lambda: "not JSON" in page.text("prompt-error"))
    assert "Out of date" in page.text("rendered")
    page.write("sampled", "<|channel|>final<|message|>Still read.<|return|>")
    page.until(lambda: "Still read." in page.text("messages"))
    assert "The request cannot be read" in page.text("answer-note")
    assert "Out of date" not in page.text("said")
    page.write("sampled", "1 " * 30_000)
    page.until(lambda: "30,000 tokens" in page.text("answer-error"))
    assert "Out of date" in page.text("said")
    page.write("body", '{"messages": [{"role": "user", "content": "Hi"}]}')
    page.until(lambda: "read as chat_completions" in page.text("prompt-facts"))
    assert "Out of date" not in page.text("rendered")


def test_all_four_apis(page: Page) -> None:
    for option, form in (
        ("Responses", "responses"),
        ("Anthropic: a tool must be called", "anthropic"),
        ("Ollama", "ollama"),
        ("chat completions: a second question", "chat_completions"),
    ):
        page.choose("body-example", option)
        page.until(lambda form=form: f"read as {form}" in page.text("prompt-facts"))
        page.until(lambda form=form: form in page.text("chunks-title"))


def test_damage_and_strictness(page: Page) -> None:
    page.choose("sampled-example", "damage: no header after the thought")
    page.until(lambda: "missing_header" in page.text("answer"))
    page.at("strict").click()
    page.until(lambda: page.text("answer-error") != "")
    page.at("strict").click()
    page.until(lambda: page.text("answer-error") == "")


def test_switches(page: Page) -> None:
    page.choose("body-example", "a conversation in this library's JSON")
    page.until(lambda: "dropped, not in the tokens" in page.text("prompt"))
    page.open_options()
    page.choose("thoughts", "kept")
    page.until(lambda: "dropped" not in page.text("prompt"))
    page.choose("ending", "training example")
    page.at("mask").click()
    page.until(lambda: " trained" in page.text("prompt"))
    page.choose("against", "thoughts dropped as in 0.0.8")
    page.until(lambda: "difference" in page.text("difference"))


def test_token_by_token_by_keyboard(page: Page) -> None:
    slider = page.at("upto")
    slider.send_keys(Keys.HOME)
    page.until(lambda: page.text("at").startswith("0 of "))
    for number in range(1, 4):
        slider.send_keys(Keys.ARROW_RIGHT)
        page.until(lambda number=number: page.text("at").startswith(f"{number} of "))
    assert "<|message|>" in page.text("at")
    page.at("forth").send_keys(Keys.ENTER)
    page.until(lambda: page.text("at").startswith("4 of "))
    page.at("back").send_keys(Keys.SPACE)
    page.until(lambda: page.text("at").startswith("3 of "))
    assert "tool_calls" not in page.text("chunks")


def test_every_control_is_reached_by_tab(page: Page) -> None:
    page.open_options()
    page.browser.execute_script("document.activeElement.blur()")
    reached = set()
    for _ in range(60):
        page.browser.switch_to.active_element.send_keys(Keys.TAB)
        focused = page.browser.switch_to.active_element
        reached.add(focused.get_attribute("id"))
        if focused.get_attribute("id") == "chunks":
            break
    assert {
        "body-example",
        "body",
        "thoughts",
        "mask",
        "against",
        "sampled",
        "strict",
    } <= reached
    assert {"back", "upto", "forth", "messages", "chunks"} <= reached


def test_text_that_tries_to_be_html(page: Page) -> None:
    body = {
        "messages": [{"role": "user", "content": EVIL}],
        "tools": [{"type": "function", "function": {"name": "f", "description": EVIL}}],
    }
    page.write("body", json.dumps(body))
    page.write("sampled", f"<|channel|>{EVIL}<|message|>{EVIL}<|end|>")
    page.until(lambda: "window.hurt" in page.text("prompt"))
    page.until(lambda: "window.hurt" in page.text("messages"))
    page.open_options()
    page.choose("against", "tools as in 0.0.8")
    page.until(lambda: page.text("difference") != "")
    assert page.browser.execute_script("return window.hurt") is None
    assert page.browser.find_elements(By.CSS_SELECTOR, "main script, main img") == []
    page.write("body", '{"messages": [{"role": "<b>x</b>"}]}')
    page.until(lambda: "<b>x</b>" in page.text("prompt-error"))


def test_fifty_megabytes_are_one_line(page: Page) -> None:
    page.browser.execute_script(
        "const box = document.getElementById('body'); box.value = 'x'.repeat(50 * 2 ** 20);"
        "box.dispatchEvent(new Event('input'));"
    )
    page.until(lambda: "MiB; the limit here is 4 MiB" in page.text("prompt-error"))
    page.write("body", '{"messages": [{"role": "user", "content": "Hi"}]}')
    page.until(lambda: "read as chat_completions" in page.text("prompt-facts"))


def test_fifty_megabytes_are_not_pasted(page: Page) -> None:
    """A browser would lay them out for half a minute."""
    accepted = page.browser.execute_script(
        "const long = new DataTransfer(), short = new DataTransfer();"
        "long.setData('text', 'x'.repeat(50 * 2 ** 20)); short.setData('text', 'x');"
        "return [long, short].map((clipboardData) => document.getElementById('body').dispatchEvent("
        "new ClipboardEvent('paste', { clipboardData, cancelable: true })));"
    )
    assert accepted == [False, True]
    assert page.text("prompt-error").startswith("The input has 50.0 MiB; the limit here is 4 MiB")


def test_a_narrow_screen(page: Page) -> None:
    try:
        page.browser.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": 360, "height": 800, "deviceScaleFactor": 1, "mobile": True},
        )
        page.open()
        width = page.browser.execute_script("return document.documentElement.scrollWidth")
        assert width <= 360
        first, second = page.browser.find_elements(By.TAG_NAME, "section")
        assert second.location["y"] >= first.location["y"] + first.size["height"]
    finally:
        page.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_dark(page: Page) -> None:
    def paper() -> int:
        colour = page.browser.execute_script(
            "return getComputedStyle(document.body).backgroundColor"
        )
        return sum(int(part) for part in colour.strip("rgb()").split(",")[:3])

    for scheme, is_dark in (("dark", True), ("light", False)):
        page.browser.execute_cdp_cmd(
            "Emulation.setEmulatedMedia",
            {"features": [{"name": "prefers-color-scheme", "value": scheme}]},
        )
        assert (paper() < 150) == is_dark
    page.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})

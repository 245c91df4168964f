"""Draws the pictures of the documents, except that of speeds (benches/figures.py): `make pictures`.

SVG for terminals. For HTML a screenshot by Chromium, which Debian's package `chromium` has; without
it those pictures stay as they are.
"""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import sys
import tempfile
from html import unescape
from pathlib import Path

from rich.cells import cell_len
from rich.console import Console
from rich.terminal_theme import TerminalTheme

from openai_harmony import (
    Author,
    Conversation,
    Message,
    RenderConversationConfig,
    SystemContent,
    load_harmony_encoding,
    show,
)
from openai_harmony.show.lines import lines
from openai_harmony.show.terminal import write_styled

HERE = Path(__file__).parent
DAMAGED = (
    "<|channel|>analysis<|message|>20 degrees. Be brief.<|end|>"
    "<|start|>assistant<|channel|>final It is 20 °C and sunny in Tokyo ☀️<|return|>"
)
_COLOURS = [
    (20, 23, 29),
    (255, 122, 133),
    (111, 220, 140),
    (240, 192, 79),
    (130, 177, 255),
    (195, 155, 255),
    (92, 210, 221),
]
THEME = TerminalTheme(
    (20, 23, 29),
    (222, 226, 232),
    [*_COLOURS, (222, 226, 232)],
    [(148, 156, 171), (255, 165, 105), *_COLOURS[2:], (255, 255, 255)],
)
CELL = 12.2
"""The width of a cell in rich's pictures."""
# Without rich's font from elsewhere.
SVG = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="-6 0 {width} {height}" class="rich-terminal">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
font-size: {char_height}px; line-height: {line_height}px; font-variant-east-asian: full-width; }}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" /></clipPath>{lines}</defs>
<rect x="-6" width="100%" height="100%" rx="10" fill="#14171d" />
<g transform="translate({terminal_x}, 22)" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}<g class="{unique_id}-matrix">{matrix}</g></g>
</svg>
"""


def chat() -> Conversation:
    """A question, a thought, a call and its result, and the answer."""
    tool = Author.new("tool", "functions.get_weather")
    return Conversation.from_messages(
        [
            Message.from_role_and_content("system", SystemContent.new()),
            Message.from_role_and_content("user", "What is the weather in Tokyo? 🗼"),
            Message.from_role_and_content("assistant", "Ask the tool.").with_channel("analysis"),
            Message.from_role_and_content("assistant", '{"city": "Tokyo"}')
            .with_channel("commentary")
            .with_recipient("functions.get_weather")
            .with_content_type("<|constrain|>json"),
            Message.from_author_and_content(tool, '{"celsius": 20, "sunny": true}')
            .with_recipient("assistant")
            .with_channel("commentary"),
            Message.from_role_and_content("assistant", "Sunny, 20 °C ☀️").with_channel("final"),
        ]
    )


def question() -> Conversation:
    """The conversation of the README, as its code shows it."""
    return Conversation.from_messages(
        [
            Message.from_role_and_content("system", SystemContent.new()),
            Message.from_role_and_content("user", "What is 2 + 2?"),
            Message.from_role_and_content("assistant", "4.").with_channel("final"),
        ]
    )


def turn() -> Conversation:
    """A question, a thought and an answer."""
    return Conversation.from_messages(
        [
            Message.from_role_and_content("user", "What is 2 + 2?"),
            Message.from_role_and_content("assistant", "A sum.").with_channel("analysis"),
            Message.from_role_and_content("assistant", "2 + 2 = 4.").with_channel("final"),
        ]
    )


def draw_terminal(
    name: str, picture: show.Picture, *, ids: bool = False, columns: int = 92
) -> None:
    """A picture as a terminal shows it."""
    console = Console(
        record=True,
        width=columns,
        file=io.StringIO(),
        force_terminal=True,
        color_system="truecolor",
        highlight=False,
    )
    write_styled(lines(picture, ids=ids), console)
    svg = console.export_svg(theme=THEME, code_format=SVG, unique_id="harmony")
    # rich measures characters, of which some take two cells.
    svg = re.sub(
        r'textLength="[\d.]+"([^>]*)>([^<]*)<',
        lambda text: f'textLength="{cell_len(unescape(text[2])) * CELL:.4g}"{text[1]}>{text[2]}<',
        svg,
    )
    # As much room on the right as on the left.
    svg = re.sub(r'(?<=viewBox="-6 0 )[\d.]+', lambda wide: f"{float(wide[0]) + 9:g}", svg)
    tidy = "\n".join(line.rstrip() for line in svg.splitlines())
    (HERE / f"{name}.svg").write_text(f"{tidy}\n", encoding="utf-8")


def draw_page(name: str, pieces: list[str], height: int, *, dark: bool = False) -> None:
    """Pieces of HTML as Chromium shows them."""
    theme = "dark" if dark else "light"
    paper = "#14171d" if dark else "#fff"
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        page.write_text(
            f"<!doctype html><meta charset=utf-8><body data-theme={theme} "
            f"style='margin:8px;background:{paper}'>{'<p></p>'.join(pieces)}",
            encoding="utf-8",
        )
        photograph(name, page.as_uri(), 860, height)


def draw_playground() -> None:
    """The playground as it opens."""
    command = [sys.executable, "-m", "openai_harmony", "playground", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        photograph("playground", running.stdout.readline().strip(), 1200, 900)
        running.terminate()


def photograph(name: str, address: str, width: int, height: int) -> None:
    """A page as Chromium shows it."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        print(f"{name}: kept as it is, since no chromium is installed", file=sys.stderr)
        return
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    options += ["--virtual-time-budget=4000", f"--window-size={width},{height}"]
    subprocess.run(
        [chromium, *options, f"--screenshot={HERE / name}.png", address],
        check=True,
        capture_output=True,
    )


def main() -> None:
    """Draws all of them."""
    encoding = load_harmony_encoding("HarmonyGptOss")
    sampled = encoding.encode(DAMAGED, allowed_special="all")
    full = RenderConversationConfig(auto_drop_analysis=False, header_style="recipient_in_channel")
    trained = show.picture(chat(), ending="training", mask=True)
    draw_terminal("conversation", trained)
    # For the site's first page: 52 columns are legible on 400 pixels.
    draw_terminal("turn", show.picture(turn(), ending="training", config=full), columns=52)
    draw_terminal("question", show.picture(question(), ending="training", mask=True))
    draw_terminal("damaged", show.picture(sampled), ids=True)
    for theme in ("light", "dark"):
        draw_page(f"conversation-{theme}", [show.html(trained)], 628, dark=theme == "dark")
    draw_page("damaged", [show.html(sampled)], 248)
    difference = show.diff(chat(), chat(), config_b=full, names=("as 0.0.8", "as served"))
    draw_playground()
    draw_page("difference", [show.html(difference)], 384)


if __name__ == "__main__":
    main()

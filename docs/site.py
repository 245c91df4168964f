"""What the site has beside the pages in docs/: files of the project that they link to."""

from __future__ import annotations

import posixpath
import re
import runpy
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

ROOT = Path(__file__).parents[1]
PAGES = ("CONTRIBUTING.md", "CHANGELOG.md")
"""Those of the project's own folder."""
LANGUAGES = {".py": "python", ".rs": "rust"}
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)#\s]+)(#[^)\s]*)?\)")


def on_files(files: Any, config: Any) -> Any:
    """Adds the project's own pages, and one for each example."""
    for name in PAGES:
        text = (ROOT / name).read_text(encoding="utf-8")
        files.append(File.generated(config, name, content=text))
    for example in sorted((ROOT / "examples").iterdir()):
        if example.suffix in LANGUAGES:
            code = example.read_text(encoding="utf-8")
            fenced = f"# {example.name}\n\n```{LANGUAGES[example.suffix]}\n{code}```\n"
        elif example.suffix == ".ipynb":
            fenced = runpy.run_path(str(ROOT / "docs" / "notebook.py"))["page"](example)
        else:
            continue
        page = File.generated(config, f"examples/{example.name}.md", content=fenced)
        page.inclusion = page.inclusion.NOT_IN_NAV
        files.append(page)
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Leads links to files outside of docs/ to their pages; other files are named alone."""
    folder = posixpath.dirname(page.file.src_uri)
    here = "" if page.file.src_uri in PAGES else "docs"

    def lead(link: re.Match[str]) -> str:
        text, target, anchor = link[1], link[2], link[3] or ""
        if re.match(r"[a-z]+:", target):
            return link[0]
        path = posixpath.normpath(posixpath.join(here, folder, target))
        inside = path.removeprefix("docs/")
        for uri in (inside, f"{path}.md", path):
            if files.get_file_from_path(uri) is not None:
                return f"[{text}]({posixpath.relpath(uri, folder or '.')}{anchor})"
        # A broken link stays, so that the build fails.
        return text if (ROOT / path).exists() and not path.startswith("docs/") else link[0]

    if page.file.src_uri == "rust.md":
        # `make docs` puts it there, where no page of MkDocs is.
        command = "`cargo doc --open`"
        assert command in markdown, f"docs/rust.md does not name the reference: {command}"
        api = f'<a href="rust-api/openai_harmony/index.html">{command}</a>'
        markdown = markdown.replace(command, api, 1)
    # GitHub needs a backslash before a bar in a table's code; Python-Markdown shows it.
    markdown = re.sub(
        r"^\|.*$",
        lambda row: re.sub(r"`[^`]+`", lambda code: code[0].replace(r"\|", "|"), row[0]),
        markdown,
        flags=re.MULTILINE,
    )
    # What an example needs, `python,ray`, is for its test.
    markdown = re.sub(r"^```(\w+),.*$", r"```\1", markdown, flags=re.MULTILINE)
    return LINK.sub(lead, markdown)

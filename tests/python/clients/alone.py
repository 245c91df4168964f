"""Runs an agent's program in front of a gateway where there is no network but the loopback.

unshare --map-root-user --net python alone.py codex[-websocket][-search]|claude|opencode PROGRAM RECORDS FOLDER TURNS

TURNS is a file of JSON lines: what the user says in each turn, and the image that is shown with it.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import socket
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
from running_gateways import command

_SET_FLAGS, _UP_AND_RUNNING = 0x8914, 0x41


def main(agent: str, program: str, records: str, folder: str, turns: str) -> int:
    with socket.socket() as any_socket:
        request = struct.pack("16sh", b"lo", _UP_AND_RUNNING)
        fcntl.ioctl(any_socket, _SET_FLAGS, request)
    home = Path(folder).parent / "home"
    home.mkdir()
    said = [json.loads(line) for line in Path(turns).read_text().splitlines()]
    with command("--engine", f"replay={records}") as (url, _):
        if agent.startswith("codex"):
            return codex(program, url, home, folder, said, agent)
        run = {"claude": claude, "opencode": opencode}[agent]
        return run(program, url, home, folder, said)


def codex(program: str, url: str, home: Path, folder: str, said: list[Any], agent: str) -> int:
    is_socket, searches = "websocket" in agent, "search" in agent
    provider = f'{{name="harmony",base_url="{url}/v1",wire_api="responses",env_key="HARMONY_KEY"'
    provider += f",supports_websockets={str(is_socket).lower()}}}"
    settings = ["-c", "model_provider=harmony", "-c", f"model_providers.harmony={provider}"]
    # Codex knows by a model's name whether it can search for tools.
    model = "gpt-5.5" if searches else "gpt-oss-20b"
    settings += ["-c", "model_context_window=131072", "-m", model, "--json"]
    if searches:
        server = json.dumps([str(Path(__file__).with_name("weather_mcp.py"))])
        server = (
            f'{{command="{sys.executable}",args={server},default_tools_approval_mode="approve"}}'
        )
        settings += ["-c", f"mcp_servers.weather={server}"]
        settings += ["--enable", "tool_search", "--enable", "tool_search_always_defer_mcp_tools"]
    environment = {**os.environ, "CODEX_HOME": str(home), "HARMONY_KEY": "-"}
    code = 0
    for at, (text, image) in enumerate(said):
        line = [program, "exec", "--skip-git-repo-check", "--sandbox", "danger-full-access"]
        line += [*settings, *(["-i", image] if image else [])]
        line += ["--", text] if not at else ["resume", "--last", "--", text]
        done = subprocess.run(
            line, cwd=folder, env=environment, stdin=subprocess.DEVNULL, timeout=120
        )
        code = done.returncode
    return code


def claude(program: str, url: str, home: Path, folder: str, said: list[Any]) -> int:
    line = [program, "-p", "--model", "gpt-oss-20b", "--allowedTools", "Bash,Read", "--verbose"]
    line += ["--input-format", "stream-json", "--output-format", "stream-json"]
    environment = {
        **os.environ,
        "ANTHROPIC_API_KEY": "",
        "ANTHROPIC_AUTH_TOKEN": "-",
        "ANTHROPIC_BASE_URL": url,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "HOME": str(home),
    }
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(line, cwd=folder, env=environment, **pipes) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for text, image in said:
            content: list[Any] = [{"type": "text", "text": text}]
            if image:
                data = base64.b64encode(Path(image).read_bytes()).decode()
                source = {"type": "base64", "media_type": "image/png", "data": data}
                content.append({"type": "image", "source": source})
            message = {"role": "user", "content": content}
            process.stdin.write(json.dumps({"type": "user", "message": message}) + "\n")
            process.stdin.flush()
            for event in process.stdout:
                print(event, end="", flush=True)
                if json.loads(event)["type"] == "result":
                    break
        process.stdin.close()
    return process.returncode


def opencode(program: str, url: str, home: Path, folder: str, said: list[Any]) -> int:
    options = {"baseURL": f"{url}/v1", "apiKey": "-"}
    models = {"gpt-oss-20b": {"name": "gpt-oss"}}
    provider = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": models}
    settings = {"autoupdate": False, "share": "disabled", "provider": {"harmony": provider}}
    settings |= {"model": "harmony/gpt-oss-20b", "permission": {"bash": "allow"}}
    environment = {**os.environ, "HOME": str(home), "PWD": folder}
    environment["OPENCODE_CONFIG_CONTENT"] = json.dumps(settings)
    environment["OPENCODE_DISABLE_MODELS_FETCH"] = "1"
    line = [program, "run", "--format", "json"]
    for text, _ in said:
        given = {"cwd": folder, "env": environment, "stdin": subprocess.DEVNULL, "timeout": 120}
        code = subprocess.run([*line, text], **given).returncode
    return code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

"""Runs an agent's program in front of a gateway where there is no network but the loopback.

unshare --map-root-user --net python alone.py codex|claude PROGRAM RECORDS FOLDER PROMPT
"""

from __future__ import annotations

import fcntl
import os
import socket
import struct
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from running_gateways import command

_SET_FLAGS, _UP_AND_RUNNING = 0x8914, 0x41


def main(agent: str, program: str, records: str, folder: str, prompt: str) -> int:
    with socket.socket() as any_socket:
        request = struct.pack("16sh", b"lo", _UP_AND_RUNNING)
        fcntl.ioctl(any_socket, _SET_FLAGS, request)
    home = Path(folder).parent / "home"
    home.mkdir()
    with command("--engine", f"replay={records}") as (url, _):
        options, more = {"codex": codex, "claude": claude}[agent](url, home, prompt)
        environment = {**os.environ, **more}
        return subprocess.run(
            [program, *options], cwd=folder, env=environment, stdin=subprocess.DEVNULL, timeout=120
        ).returncode


def codex(url: str, home: Path, prompt: str) -> tuple[list[str], dict[str, str]]:
    provider = f'{{name="harmony",base_url="{url}/v1",wire_api="responses",env_key="HARMONY_KEY"}}'
    line = ["exec", "--skip-git-repo-check", "--sandbox", "danger-full-access", "--json"]
    line += ["-c", "model_provider=harmony", "-c", f"model_providers.harmony={provider}"]
    line += ["-m", "gpt-oss-20b", prompt]
    return line, {"CODEX_HOME": str(home), "HARMONY_KEY": "-"}


def claude(url: str, home: Path, prompt: str) -> tuple[list[str], dict[str, str]]:
    line = ["-p", prompt, "--model", "gpt-oss-20b", "--allowedTools", "Bash,Read"]
    line += ["--output-format", "stream-json", "--verbose"]
    environment = {
        "ANTHROPIC_API_KEY": "",
        "ANTHROPIC_AUTH_TOKEN": "-",
        "ANTHROPIC_BASE_URL": url,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "HOME": str(home),
    }
    return line, environment


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

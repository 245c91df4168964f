"""The files that operators copy: their commands are commands, and the times in them fit together."""

from __future__ import annotations

import argparse
import configparser
import importlib
import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")

from openai_harmony.cli import serve as command
from openai_harmony.serve.settings import NAMES, Settings

FOLDER = Path(__file__).parents[2] / "examples" / "deploy"


def settings(arguments: list[str]) -> Settings:
    """Those of a command line, which is an error if there is no such option."""
    parser = argparse.ArgumentParser(exit_on_error=False)
    command.add(parser)
    given = vars(parser.parse_args(arguments))
    named = {name: given[name] for name in NAMES if given[name] is not None}
    return Settings.model_validate(named, strict=False)


def seconds_to_end(of: Settings) -> float:
    return of.shutdown_delay + of.drain_timeout


def most_seconds_to_end(of: Settings) -> float:
    """With a store that hangs."""
    return seconds_to_end(of) + of.store_timeout + 5


def test_kubernetes() -> None:
    yaml: Any = importlib.import_module("yaml")  # without types
    deployment, service = yaml.safe_load_all((FOLDER / "kubernetes.yaml").read_text())
    pod = deployment["spec"]["template"]["spec"]
    engine, gateway = pod["containers"]
    asked = settings(gateway["args"])
    port = str(asked.port)
    assert f":{engine['args'][engine['args'].index('--port') + 1]}" in asked.engine
    assert asked.host == "0.0.0.0"
    paths = {
        name: gateway[f"{name}Probe"]["httpGet"] for name in ("startup", "readiness", "liveness")
    }
    assert {name: one["path"] for name, one in paths.items()} == {
        "startup": "/live",
        "readiness": "/ready",
        "liveness": "/live",
    }
    assert {str(one["port"]) for one in paths.values()} == {port}
    assert str(service["spec"]["ports"][0]["targetPort"]) == port
    readiness = gateway["readinessProbe"]
    # Balancers learn that it ends before it takes no more.
    assert readiness["periodSeconds"] * readiness["failureThreshold"] < asked.shutdown_delay
    stop = {
        one["name"]: int(one["lifecycle"]["preStop"]["exec"]["command"][1])
        for one in (engine, gateway)
    }
    ends = stop["gateway"] + seconds_to_end(asked)
    assert ends < stop["vllm"] < pod["terminationGracePeriodSeconds"]
    assert stop["gateway"] + most_seconds_to_end(asked) < pod["terminationGracePeriodSeconds"]


def test_systemd() -> None:
    unit = configparser.RawConfigParser()
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read(FOLDER / "harmony-serve.service")
    service = unit["Service"]
    program, subcommand, *arguments = shlex.split(service["ExecStart"])
    assert (Path(program).name, subcommand) == ("harmony", "serve")
    asked = settings(arguments)
    assert int(service["TimeoutStopSec"]) > most_seconds_to_end(asked)
    # The parent tells its workers itself when to end.
    assert service["KillMode"] == "mixed"
    assert service["ExecReload"].endswith("-HUP $MAINPID")


def test_docker() -> None:
    lines = (FOLDER / "Dockerfile").read_text().replace("\\\n", " ").splitlines()
    found: dict[str, Any] = dict(
        line.split(maxsplit=1) for line in lines if re.match("[A-Z]+ ", line)
    )
    assert json.loads(found["ENTRYPOINT"]) == ["harmony", "serve"]
    assert found["EXPOSE"] == str(Settings().port)
    assert (found["STOPSIGNAL"], found["USER"]) == ("SIGTERM", "harmony")
    assert "[serve]" in found["RUN"]

"""Prints the CPython interpreters from 3.10 up of this machine, one of each version.

Those on the PATH and those that pyenv has installed count, if they can make virtual environments.
The one that runs this is left out.
"""

import os
import subprocess
import sys
from pathlib import Path

# Prints the version, and `t` after it for a build without the GIL.
ASK = """
import ensurepip, platform, sys, sysconfig, venv
assert platform.python_implementation() == "CPython" and sys.version_info >= (3, 10)
free = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
print(f"{sys.version_info[0]}.{sys.version_info[1]}{'t' * free}")
"""


def version_of(python):
    """The version of an interpreter, or None if it cannot be used."""
    try:
        asked = subprocess.run([python, "-c", ASK], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return asked.stdout.strip() if asked.returncode == 0 else None


def candidates():
    """Whatever may be an interpreter."""
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        yield from sorted(Path(folder or ".").glob("python3*"))
    pyenv = os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv"
    yield from sorted(Path(pyenv, "versions").glob("*/bin/python3"))


def main():
    """Prints their paths."""
    found = {version_of(sys.executable)}
    for python in candidates():
        if python.name[len("python3") :].strip(".0123456789t") or not os.access(python, os.X_OK):
            continue
        version = version_of(str(python))
        if version is not None and version not in found:
            found.add(version)
            print(python)


if __name__ == "__main__":
    main()

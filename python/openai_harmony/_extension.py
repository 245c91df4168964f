"""Says how to build the compiled extension, where it is missing."""

from importlib.util import find_spec

if find_spec("openai_harmony._lowlevel") is None:
    raise ModuleNotFoundError(
        "openai_harmony needs its compiled extension `openai_harmony._lowlevel`, which is not "
        "built for this Python. Build it with `pip install .` in a checkout, or with "
        "`maturin develop --release` while you work on it.",
        name="openai_harmony._lowlevel",
    )

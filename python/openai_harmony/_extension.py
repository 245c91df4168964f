"""Explains how to build the compiled extension if it is missing."""

try:
    import openai_harmony._lowlevel  # noqa: F401
except ModuleNotFoundError as error:
    if error.name != "openai_harmony._lowlevel":
        raise
    raise ModuleNotFoundError(
        "openai_harmony needs its compiled extension `openai_harmony._lowlevel`, which is not "
        "built for this Python. Build it with `pip install .` in a checkout, or with "
        "`maturin develop --release` while you work on it.",
        name="openai_harmony._lowlevel",
    ) from None

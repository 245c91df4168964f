r"""vLLM's own path with this library's grammar and parser: a plugin for vLLM, off unless asked for.

::

    export OPENAI_HARMONY_VLLM=1
    vllm serve openai/gpt-oss-20b --enable-auto-tool-choice --tool-call-parser openai \
        --reasoning-parser openai_gptoss
"""

from openai_harmony import _foreign

# vLLM logs it, and starts without the plugin. Its update can put oss-harmony over these files.
_foreign.check()

from openai_harmony.adapters.vllm.plugin import SWITCH, register  # noqa: E402

__all__ = ["SWITCH", "register"]

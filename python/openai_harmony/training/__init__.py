"""What training adds to rendering: loss masks, and whole data sets to flat arrays of tokens.

>>> from openai_harmony import Conversation, Message, load_harmony_encoding
>>> from openai_harmony.training import LossMask
>>> encoding = load_harmony_encoding("HarmonyGptOss")
>>> question = Message.from_role_and_content("user", "Hi")
>>> answer = Message.from_role_and_content("assistant", "Hi").with_channel("final")
>>> example = Conversation.from_messages([question, answer])
>>> rendered = encoding.render_with_spans(example, ending="training")
>>> list(rendered.loss_mask())
[0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1]
>>> list(rendered.loss_mask(LossMask(headers=False)))
[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1]
"""

from typing import TYPE_CHECKING, Any

from openai_harmony.loss_mask import LossMask
from openai_harmony.training.batch import Batch, Example
from openai_harmony.training.rows import render, render_batches

if TYPE_CHECKING:
    from openai_harmony.training.dataset import write_dataset

__all__ = ["Batch", "Example", "LossMask", "render", "render_batches", "write_dataset"]


def __getattr__(name: str) -> Any:
    """Files are an application of this, which imports it."""
    if name == "write_dataset":
        from openai_harmony.training import dataset

        return dataset.write_dataset
    raise AttributeError(f"module 'openai_harmony.training' has no attribute {name!r}")

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

from openai_harmony.loss_mask import LossMask
from openai_harmony.training.batch import Batch, Example
from openai_harmony.training.rows import render, render_batches

__all__ = ["Batch", "Example", "LossMask", "render", "render_batches"]

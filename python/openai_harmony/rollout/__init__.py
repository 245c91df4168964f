"""Episodes that continue from sampled tokens: for agents, and for reinforcement learning.

Rendering a conversation again after each turn spells the model's headers and arguments differently.
So a trainer trains on tokens that the policy never sampled, and a prefix cache misses. Here the
next prompt is the last one, the sampled tokens, and what is new; where the format does not allow
that, the break has a reason.
"""

from openai_harmony.next_prompt import Break, Broken, Extended
from openai_harmony.rollout.episode import Rollout
from openai_harmony.rollout.examples import Examples, Segment
from openai_harmony.rollout.following import Following, following
from openai_harmony.rollout.step import Call, Said, Step, read_step

__all__ = [
    "Break",
    "Broken",
    "Call",
    "Examples",
    "Extended",
    "Following",
    "Rollout",
    "Said",
    "Segment",
    "Step",
    "following",
    "read_step",
]

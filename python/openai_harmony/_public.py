"""The public names of which none is a model, by the modules that define them."""

from openai_harmony.encoding import (
    HarmonyEncoding,
    HarmonyEncodingName,
    load_harmony_encoding,
)
from openai_harmony.errors import (
    HarmonyError,
    InvalidGrammarError,
    InvalidRequestError,
    InvalidRowError,
    MissingFieldError,
    PromptTooLongError,
    UnknownFieldError,
    UnknownFieldWarning,
    UnsupportedContent,
    WrongTypeError,
)
from openai_harmony.kinds import (
    ErrorKind,
    RepairKind,
)
from openai_harmony.rendered import (
    MessageSpan,
    Rendered,
)
from openai_harmony.roles import (
    Role,
)
from openai_harmony.stream import (
    ContentDelta,
    Event,
    MessageEnd,
    MessageStart,
    Parsed,
    Repair,
    StreamableParser,
    StreamState,
)
from openai_harmony.token_batch import (
    TokenBatch,
)

__all__ = [
    "ContentDelta",
    "ErrorKind",
    "Event",
    "HarmonyEncoding",
    "HarmonyEncodingName",
    "HarmonyError",
    "InvalidGrammarError",
    "InvalidRequestError",
    "InvalidRowError",
    "MessageEnd",
    "MessageSpan",
    "MessageStart",
    "MissingFieldError",
    "Parsed",
    "PromptTooLongError",
    "Rendered",
    "Repair",
    "RepairKind",
    "Role",
    "StreamState",
    "StreamableParser",
    "TokenBatch",
    "UnknownFieldError",
    "UnknownFieldWarning",
    "UnsupportedContent",
    "WrongTypeError",
    "load_harmony_encoding",
]

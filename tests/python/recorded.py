"""What a model says, for the engine `replay`."""

THOUGHT = "<|channel|>analysis<|message|>{}<|end|><|start|>assistant"
CALL = "<|channel|>commentary to=functions.{} <|constrain|>json<|message|>{}<|call|>"
FINAL = "<|channel|>final<|message|>{}<|return|>"

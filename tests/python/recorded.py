"""What a model says, for the engine `replay`."""

THOUGHT = "<|channel|>analysis<|message|>{}<|end|><|start|>assistant"
CALL = "<|channel|>commentary to=functions.{} <|constrain|>json<|message|>{}<|call|>"
FINAL = "<|channel|>final<|message|>{}<|return|>"

# Calls a tool until the weather of two cities is known; the latest result decides.
WEATHER = [
    {"match": "BERGEN-RAIN", "text": THOUGHT.format("Both are known.") + FINAL.format("Oslo.")},
    {"match": "OSLO-SUN", "text": CALL.format("get_weather", '{"city":"Bergen"}')},
    {
        "match": "Where is it sunny",
        "text": THOUGHT.format("Ask for each.")
        + "<|channel|>commentary<|message|>I ask.<|end|><|start|>assistant"
        + CALL.format("get_weather", '{"city":"Oslo"}'),
    },
    {"match": "as JSON", "text": FINAL.format('{"city":"Oslo","sunny":true}')},
]

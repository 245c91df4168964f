"""A server of the Model Context Protocol with one tool, over standard input and output."""

from __future__ import annotations

import json
import sys
from typing import Any

PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOL = {
    "name": "forecast",
    "description": "The weather forecast of a city",
    "inputSchema": PARAMETERS,
}

for line in sys.stdin:
    asked = json.loads(line)
    given = asked.get("params", {})
    answers: dict[str, dict[str, Any]] = {
        "initialize": {
            "protocolVersion": given.get("protocolVersion"),
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "weather", "version": "1"},
        },
        "tools/list": {"tools": [TOOL]},
        "tools/call": {"content": [{"type": "text", "text": f"SUNNY {given.get('arguments')}"}]},
    }
    if "id" in asked:
        result = answers.get(asked["method"], {})
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)

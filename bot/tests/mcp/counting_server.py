"""An MCP server that counts: what was carried out is in a file, whatever became of the answer.

The environment variable COUNT_FILE names the file. `increment` appends a line with its argument `key`, makes it durable, and
answers after `wait_ms`. `read` answers with the lines.
"""

import json
import os
import sys
import time

TOOLS = [
    {
        "name": "increment",
        "description": "Adds one to the count of a key.",
        "inputSchema": {
            "type": "object",
            "required": ["key"],
            "properties": {"key": {"type": "string"}, "wait_ms": {"type": "integer", "minimum": 0}},
        },
    },
    {
        "name": "read",
        "description": "Returns the keys that were counted, one a line.",
        "inputSchema": {"type": "object", "properties": {}},
        "annotations": {"readOnlyHint": True},
    },
]


def increment(arguments):
    with open(os.environ["COUNT_FILE"], "a", encoding="utf-8") as file:
        file.write(str(arguments.get("key", "")) + "\n")
        file.flush()
        os.fsync(file.fileno())
    time.sleep(arguments.get("wait_ms", 0) / 1000)
    return "counted"


def read(_):
    try:
        with open(os.environ["COUNT_FILE"], encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return ""


def answer(method, params):
    if method == "initialize":
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "counting", "version": "1"},
        }
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "tools/call":
        text = {"increment": increment, "read": read}[params["name"]](params.get("arguments") or {})
        return {"content": [{"type": "text", "text": text}]}
    return {}


def main():
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message and "method" in message:
            result = answer(message["method"], message.get("params") or {})
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)


if __name__ == "__main__":
    main()

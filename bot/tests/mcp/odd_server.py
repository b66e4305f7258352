"""An MCP server that does what none should: it dies, hangs, floods, and lists what does not fit.

usage: odd_server.py [MODE]
The environment variable NOTES names a file in which it writes what it hears. MODE is one of

  odd       (default) the tools below
  silent    answers nothing at all
  broken    says something on standard error and exits
  stubborn  neither the end of its input nor a signal ends it, and it has a child that is the same
"""

import json
import os
import signal
import subprocess
import sys
import time

TOOLS = [
    "echo", "environment", "die", "hang", "big", "controls", "../../etc", "get time", "get_time", "fail", "refuse", "image",
    "flood", "pings", "grow", "shrink", "structured", "garbage", "nonsense", "complain",
]
extra = []


def note(text):
    if "NOTES" in os.environ:
        with open(os.environ["NOTES"], "a", encoding="utf-8") as file:
            file.write(text + "\n")


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def text(words):
    return {"content": [{"type": "text", "text": words}]}


def listed():
    tools = [{"name": name, "inputSchema": {"type": "object", "properties": {}}} for name in TOOLS + extra]
    tools[0]["description"] = "Says it again.\x1b[2J\u202e" + "x" * 2000
    tools[0]["annotations"] = {"readOnlyHint": True}
    tools.append({"name": "schemaless", "inputSchema": "anything"})
    tools.append({"name": "huge", "inputSchema": {"type": "object", "description": "x" * 40000}})
    return {"tools": tools}


def call(id, name, arguments):
    global extra
    if name in ("echo", "../../etc", "get time", "get_time", "schemaless", "grown"):
        return text(name + ": " + str(arguments.get("text", "")))
    if name == "environment":
        return text(json.dumps(dict(os.environ)))
    if name == "die":
        os._exit(3)
    if name == "hang":
        note("hangs")
        return None
    if name == "big":
        return text("x" * (arguments["megabytes"] * 1024 * 1024))
    if name == "controls":
        return text("a\x1b[2J\x00\u202eb\r\nc")
    if name == "fail":
        return {**text("no such file"), "isError": True}
    if name == "refuse":
        send({"id": id, "error": {"code": -32602, "message": "not \x1bthis way"}})
        return None
    if name == "image":
        return {"content": [{"type": "image", "data": "A" * 16000, "mimeType": "image/png"}]}
    if name == "structured":
        return {"content": [], "structuredContent": {"degrees": 21}}
    if name == "flood":
        for number in range(20000):
            send({"method": "notifications/message", "params": {"level": "info", "data": "x" * 100}})
        return text("flooded")
    if name == "pings":
        for number in range(20000):
            send({"id": "ping%d" % number, "method": "ping"})
        return text("pinged")
    if name in ("grow", "shrink"):
        extra = ["grown"] if name == "grow" else []
        send({"method": "notifications/tools/list_changed"})
        return text(name)
    if name == "garbage":
        sys.stdout.write("this is not JSON\n\n{\"jsonrpc\": \"2.0\"}\n[]\n{}\nnull\n" + "[" * 5000 + "\n")
        return text("after garbage")
    if name == "nonsense":
        return {"content": [{"type": "hologram", "data": 3}]}
    if name == "complain":
        sys.stderr.write("careful\x1b[31m" + "y" * 100000 + "\n")
        sys.stderr.flush()
        return text("complained")
    return {**text("no tool " + name), "isError": True}


def handle(message):
    method, params = message.get("method"), message.get("params") or {}
    if method == "notifications/cancelled":
        note("cancelled")
    if "id" not in message or method is None:
        return
    result = {}
    if method == "initialize":
        version = {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {"listChanged": True}}}
        result = {**version, "serverInfo": {"name": "odd", "version": "1"}}
    elif method == "tools/list":
        result = listed()
    elif method == "tools/call":
        result = call(message["id"], params["name"], params.get("arguments") or {})
    if result is not None:
        send({"id": message["id"], "result": result})


def main():
    mode = sys.argv[1] if len(sys.argv) > 1 else "odd"
    if mode == "broken":
        sys.exit("cannot find\x1b[31m my settings")
    note("pid %d" % os.getpid())
    if mode == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"], stdin=subprocess.DEVNULL)
        note("pid %d" % child.pid)
    for line in sys.stdin:
        if mode != "silent":
            handle(json.loads(line))
    note("end of input")
    if mode == "stubborn":
        time.sleep(3600)


if __name__ == "__main__":
    main()

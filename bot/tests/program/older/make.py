#!/usr/bin/env python3
"""Makes the data folders of this directory, by living in the web room of an aizuchi that was released.

    python3 make.py PROGRAM

PROGRAM is the aizuchi whose folders a newer one must be able to read. Nothing but Python's own library is needed.
"""

import base64, json, os, pathlib, shutil, socket, sqlite3, struct, subprocess, sys, tempfile, time, zipfile

HERE = pathlib.Path(__file__).parent
ROOMS = ["lobby", "garden", "attic", "cellar", "porch", "shed", "hall", "loft", "barn"]
MUTED = ["garden", "cellar", "hall", "loft", "barn"]


class Page:
    """Somebody in a room."""

    def __init__(self, port, room, name):
        for _ in range(200):
            try:
                self.socket = socket.create_connection(("127.0.0.1", port), 20)
                break
            except OSError:
                time.sleep(0.05)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(
            f"GET /ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode())
        self.bytes = b""
        while b"\r\n\r\n" not in self.bytes:
            self.bytes += self.socket.recv(4096)
        self.bytes = self.bytes.split(b"\r\n\r\n", 1)[1]
        self.number = 0
        self.send({"do": "enter", "room": room, "name": name})
        self.until("caught_up")

    def send(self, frame):
        data, mask = json.dumps(frame).encode(), os.urandom(4)
        head = struct.pack("!BB", 0x81, 0x80 | len(data)) if len(data) < 126 else struct.pack("!BBH", 0x81, 0xFE, len(data))
        self.socket.sendall(head + mask + bytes(byte ^ mask[i % 4] for i, byte in enumerate(data)))

    def take(self, count):
        while len(self.bytes) < count:
            got = self.socket.recv(65536)
            if not got:
                raise EOFError
            self.bytes += got
        taken, self.bytes = self.bytes[:count], self.bytes[count:]
        return taken

    def read(self):
        while True:
            head = self.take(2)
            length = head[1] & 0x7F
            if length == 126:
                length = struct.unpack("!H", self.take(2))[0]
            elif length == 127:
                length = struct.unpack("!Q", self.take(8))[0]
            data = self.take(length)
            if head[0] & 0x0F == 1:
                return json.loads(data)

    def until(self, kind, fits=lambda frame: True):
        while True:
            frame = self.read()
            if frame["tell"] == kind and fits(frame):
                return frame

    def say(self, text):
        self.number += 1
        self.send({"do": "say", "key": str(self.number), "text": text})
        return self.until("taken")["id"]

    def hear_answer(self):
        self.until("said", lambda frame: frame["message"]["voice"] == "Me" and "no model" in frame["message"]["text"])


def make(program, shards, name):
    folder = pathlib.Path(tempfile.mkdtemp())
    probe = socket.create_server(("127.0.0.1", 0))
    port = probe.getsockname()[1]
    probe.close()

    def command(*words):
        return [program, *words]

    def start(*settings, **variables):
        common = [f"web.address=127.0.0.1:{port}", f"store.folder={folder / 'data'}", f"runtime.shards={shards}",
                  "store.snapshot_records=20", "web.rooms=" + json.dumps(ROOMS), "log.level=warn"]
        words = [word for setting in [*common, *settings] for word in ("--set", setting)]
        return subprocess.Popen(command("run", "--no-browser", *words), cwd=folder, env={"PATH": os.environ["PATH"], **variables},
                                stdout=subprocess.DEVNULL)

    # What is remembered for long.
    running = start()
    Page(port, "lobby", "mia").say("good morning")
    running.kill()
    running.wait()
    fact = {"fact": {"id": 1, "room": "web:lobby", "content": "Mia keeps bees behind the old mill.",
                     "keywords": ["mia", "bees", "mill"], "people": ["web:p1"], "messages": ["w1"], "confidence": 0.9,
                     "shareable": True, "at": int(time.time() * 1000), "used_at": None, "uses": 0, "pinned": True,
                     "told_in": [], "visibility": "public"}}
    (folder / "facts.jsonl").write_text(json.dumps(fact) + "\n")
    subprocess.run(command("memory", "import", str(folder / "facts.jsonl"), "--folder", str(folder / "data")), check=True)

    # Some rooms are muted and then quiet, one goes on until there is a snapshot of its engine: with two, the other has none.
    running = start()
    for room in ROOMS:
        page = Page(port, room, "mia")
        page.say(f"@aizuchi are you in the {room}?")
        page.hear_answer()
        if room in MUTED:
            page.say("/mute")
    page = Page(port, "lobby", "jonas")
    for number in range(60):
        page.say(f"and then there was number {number}")
    time.sleep(1)
    running.kill()
    running.wait()

    # A model that never answers: who called it waits, and so does a question to everybody.
    silent = socket.create_server(("127.0.0.1", 0))
    running = start("models.main=openai/some-model", "models.judge=openai/some-model",
                    f"providers.openai.url=http://127.0.0.1:{silent.getsockname()[1]}/v1/", OPENAI_API_KEY="none")
    waiting = {}
    for room in ["attic", "porch"]:
        waiting[room] = Page(port, room, "aoi").say(f"@aizuchi what is in the {room}?")
    Page(port, "lobby", "aoi").say("does anybody know a quiet place nearby?")
    time.sleep(1)
    running.kill()
    running.wait()
    silent.close()

    # The log is brought into the file, which makes it small.
    store = sqlite3.connect(folder / "data" / "aizuchi.db")
    store.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    store.close()
    with zipfile.ZipFile(HERE / f"{name}.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        archive.write(folder / "data" / "aizuchi.db", "aizuchi.db")
        facts = {"killed_at": int(time.time() * 1000), "muted": MUTED, "waiting": waiting}
        archive.writestr("about.json", json.dumps(facts, indent=1))
    shutil.rmtree(folder)


make(os.path.abspath(sys.argv[1]), 1, "one-shard")
make(os.path.abspath(sys.argv[1]), 2, "two-shards")

// The one connection to the server: comes back by itself, resumes after the last frame it has, and sends again what was never taken.

const BACKOFF_MS = { first: 400, most: 15_000 };
const SILENCE_MS = 10_000;

/** What people did that the server has not confirmed, by room. It outlives a reload. */
export class Outbox {
  #key;
  #frames;

  constructor(room) {
    this.#key = `outbox:${room}`;
    try { this.#frames = JSON.parse(sessionStorage.getItem(this.#key)) ?? []; } catch { this.#frames = []; }
  }

  get frames() {
    return this.#frames;
  }

  add(frame) {
    this.#frames.push(frame);
    this.#save();
  }

  /** The frame with this key, which is no longer waiting. */
  remove(key) {
    const found = this.#frames.find((frame) => frame.key === key);
    this.#frames = this.#frames.filter((frame) => frame !== found);
    this.#save();
    return found;
  }

  #save() {
    try { sessionStorage.setItem(this.#key, JSON.stringify(this.#frames)); } catch { /* it holds until a reload */ }
  }
}

/** Tells `frame` for each of the server's, and `state`: connecting, open, lost or closed. */
export class Connection extends EventTarget {
  #socket = null;
  #attempt = 0;
  #retry = 0;
  #giveUp = 0;
  #entering = null;
  state = "connecting";
  retryAt = 0;

  /** Nothing is connected before somebody enters. */
  constructor() {
    super();
    addEventListener("online", () => this.hurry());
    document.addEventListener("visibilitychange", () => document.hidden || this.hurry());
  }

  /** `entering` makes the first frame, `outbox` holds what to send again. */
  enter(entering, outbox) {
    this.#entering = entering;
    this.outbox = outbox;
    this.#attempt = 0;
    this.#open();
  }

  /** Sent now, and again after every new connection until it is taken. */
  sendSurely(frame) {
    const keyed = { ...frame, key: crypto.randomUUID?.() ?? randomKey() };
    this.outbox.add(keyed);
    this.send(keyed);
    return keyed;
  }

  /** The same again, after it was refused. */
  repeat(frame) {
    this.outbox.add(frame);
    this.send(frame);
  }

  /** No more tries until somebody enters again. */
  leave() {
    clearTimeout(this.#retry);
    this.#drop();
    this.#set("closed");
  }

  /** Sent now or never. */
  send(frame) {
    if (this.state === "open") this.#socket.send(JSON.stringify(frame));
  }

  /** Does not wait for the next try. */
  hurry() {
    if (this.state !== "lost") return;
    this.#open();
  }

  #open() {
    clearTimeout(this.#retry);
    this.#drop();
    const address = new URL("ws", document.baseURI);
    address.protocol = address.protocol.replace("http", "ws");
    address.search = address.hash = "";
    const socket = new WebSocket(address);
    this.#socket = socket;
    this.#set(this.#attempt === 0 ? "connecting" : "lost");
    this.#giveUp = setTimeout(() => this.#lost(socket), SILENCE_MS);
    socket.addEventListener("open", () => socket.send(JSON.stringify({ do: "enter", ...this.#entering() })));
    socket.addEventListener("message", (event) => this.#take(socket, event.data));
    socket.addEventListener("close", () => this.#lost(socket));
  }

  #take(socket, data) {
    if (socket !== this.#socket) return;
    const frame = JSON.parse(data);
    if (frame.tell === "hello") this.#welcome(socket);
    if (frame.tell === "taken" || frame.tell === "refused") frame.sent = frame.key ? this.outbox.remove(frame.key) : undefined;
    this.dispatchEvent(new CustomEvent("frame", { detail: frame }));
  }

  #welcome(socket) {
    clearTimeout(this.#giveUp);
    this.#attempt = 0;
    this.#set("open");
    for (const frame of this.outbox.frames) socket.send(JSON.stringify(frame));
  }

  #lost(socket) {
    if (socket !== this.#socket) return;
    this.#drop();
    const most = Math.min(BACKOFF_MS.most, BACKOFF_MS.first * 2 ** this.#attempt);
    const wait = most * (0.5 + Math.random() / 2);
    this.#attempt += 1;
    this.retryAt = Date.now() + wait;
    this.#retry = setTimeout(() => this.#open(), wait);
    this.#set("lost");
  }

  #drop() {
    clearTimeout(this.#giveUp);
    const socket = this.#socket;
    this.#socket = null;
    socket?.close();
  }

  #set(state) {
    this.state = state;
    this.dispatchEvent(new CustomEvent("state"));
  }
}

/** Where the page is not served from a secure origin there is no `randomUUID`. */
function randomKey() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

// The one connection to the server: comes back by itself, resumes after the last frame it has, and sends again what was never taken.

const BACKOFF_MS = { first: 400, most: 15_000 };
const SILENCE_MS = 10_000;
/** The server's word for a frame that it will not even read. */
const TOO_LARGE = 1009;

const pause = (attempt) => Math.min(BACKOFF_MS.most, BACKOFF_MS.first * 2 ** attempt) * (0.5 + Math.random() / 2);

/** What people did that the server has not confirmed, by room. It outlives a reload. */
export class Outbox {
  #key;
  #frames;

  constructor(room) {
    this.#key = `outbox:${room}`;
    this.#load();
  }

  get frames() {
    return this.#frames;
  }

  /** Which room it is was not known before the server said so. */
  settle(room) {
    const key = `outbox:${room}`;
    if (key === this.#key) return;
    const early = this.#frames;
    sessionStorage.removeItem(this.#key);
    this.#key = key;
    this.#load();
    this.#frames.push(...early);
    this.#save();
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

  #load() {
    try { this.#frames = JSON.parse(sessionStorage.getItem(this.#key)) ?? []; } catch { this.#frames = []; }
  }

  #save() {
    try { sessionStorage.setItem(this.#key, JSON.stringify(this.#frames)); } catch { /* it holds until a reload */ }
  }
}

/** Tells `frame` for each of the server's, `dropped` for what it cannot be sent, and `state`: connecting, open, lost or closed. */
export class Connection extends EventTarget {
  #socket = null;
  #attempt = 0;
  #retry = 0;
  #resend = 0;
  #resent = 0;
  #giveUp = 0;
  #entering = null;
  state = "connecting";
  retryAt = 0;
  /** Why the server does not let this page in for now, in its words. */
  why = null;

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
    socket.addEventListener("close", ({ code }) => this.#lost(socket, code));
  }

  #take(socket, data) {
    if (socket !== this.#socket) return;
    const frame = JSON.parse(data);
    if (frame.tell === "hello") this.#welcome(socket, frame);
    if (frame.tell === "refused" && frame.again) return this.#later(socket, frame);
    if (frame.tell === "taken" || frame.tell === "refused") frame.sent = frame.key ? this.outbox.remove(frame.key) : undefined;
    if (frame.tell === "taken") this.#resent = 0;
    this.dispatchEvent(new CustomEvent("frame", { detail: frame }));
  }

  #welcome(socket, { room, message_chars_max }) {
    clearTimeout(this.#giveUp);
    this.#attempt = 0;
    this.why = null;
    this.outbox.settle(room);
    this.#set("open");
    const tooLong = (frame) => [...(frame.text ?? "")].length > message_chars_max;
    for (const frame of this.outbox.frames.filter(tooLong)) this.#giveUpOn(frame);
    for (const frame of this.outbox.frames) socket.send(JSON.stringify(frame));
  }

  /** It may be taken a little later: what waits is sent again, and a visitor who was not let in tries again. */
  #later(socket, refused) {
    if (this.state !== "open") return this.#lost(socket, null, refused.why);
    const waits = this.outbox.frames.some((frame) => frame.key === refused.key);
    if (!waits) return this.dispatchEvent(new CustomEvent("frame", { detail: refused }));
    clearTimeout(this.#resend);
    this.#resend = setTimeout(() => this.outbox.frames.forEach((frame) => this.send(frame)), pause(this.#resent));
    this.#resent += 1;
  }

  #lost(socket, code, why = null) {
    if (socket !== this.#socket) return;
    this.#drop();
    this.why = why;
    if (code === TOO_LARGE) this.#dropLargest();
    const wait = pause(this.#attempt);
    this.#attempt += 1;
    this.retryAt = Date.now() + wait;
    this.#retry = setTimeout(() => this.#open(), wait);
    this.#set("lost");
  }

  #giveUpOn(frame) {
    this.dispatchEvent(new CustomEvent("dropped", { detail: this.outbox.remove(frame.key) }));
  }

  /** Sent again, it would end every connection to come. */
  #dropLargest() {
    const size = (frame) => JSON.stringify(frame).length;
    const [largest] = this.outbox.frames.toSorted((a, b) => size(b) - size(a));
    if (largest) this.#giveUpOn(largest);
  }

  #drop() {
    clearTimeout(this.#giveUp);
    clearTimeout(this.#resend);
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

// What the page knows of one room: messages, decisions, what is pending. Fed by the server's frames, read by every view.

const TYPING_MS = 5000;

export class Room extends EventTarget {
  constructor(name) {
    super();
    this.name = name;
    this.forget();
  }

  /** As if nothing had ever been told. */
  forget() {
    this.messages = new Map();
    this.traces = new Map();
    this.threads = new Map();
    this.notices = [];
    this.view = null;
    this.seq = 0;
    this.moreBefore = false;
    this.caughtUp = false;
    this.typing = new Map();
    this.asked = new Set();
  }

  tell(kind, detail) {
    this.dispatchEvent(new CustomEvent(kind, { detail }));
  }

  /** The oldest message there is; history is asked for from here. */
  get oldest() {
    return Math.min(...[...this.messages.values()].map((message) => message.order));
  }

  take(frame, clock) {
    switch (frame.tell) {
      case "said": return this.said(frame);
      case "changed": return this.changed(frame);
      case "caught_up": return this.catchUp(frame);
      case "decided": return this.decided(frame.trace);
      case "view":
        this.view = frame.view;
        return this.tell("view");
      case "typing": return this.types(frame, clock);
      case "notice":
        this.notices.push({ id: `notice-${this.notices.length}`, at: clock.now(), text: frame.text, after: this.seq });
        return this.tell("notice", this.notices.at(-1));
    }
  }

  /** History comes in the order of the room, not of the changes: a line that breaks meanwhile must not skip the rest. */
  count(seq) {
    if (this.caughtUp && !this.asksHistory) this.seq = Math.max(this.seq, seq);
  }

  /** A message told twice is heard once. */
  said({ seq, message }) {
    this.count(seq);
    const known = this.messages.get(message.id);
    if (known) return this.changed({ seq, message });
    const heard = { order: seq, ...message, version: seq, isNew: this.caughtUp && !this.asksHistory };
    if (heard.thread === heard.id) heard.thread = null;
    this.messages.set(heard.id, heard);
    if (heard.thread) this.threads.set(heard.thread, [...(this.threads.get(heard.thread) ?? []), heard.id]);
    this.typing.delete(heard.author);
    this.tell("message", heard);
  }

  changed({ seq, message }) {
    this.count(seq);
    const known = this.messages.get(message.id);
    if (!known || seq <= known.version) return;
    Object.assign(known, message, { thread: known.thread, version: seq });
    this.tell("message", known);
  }

  catchUp({ seq, more_before }) {
    this.seq = Math.max(this.seq, seq);
    if (!this.caughtUp || this.asksHistory) this.moreBefore = more_before;
    this.caughtUp = true;
    this.asksHistory = false;
    this.tell("caughtup");
  }

  decided(trace) {
    if (!trace?.id) return;
    this.traces.set(trace.id, trace);
    this.tell("decided", trace);
  }

  types({ name, thread }, clock) {
    const until = clock.now() + TYPING_MS;
    this.typing.set(name, { thread: thread ?? null, until });
    this.tell("typing");
    setTimeout(() => {
      if (this.typing.get(name)?.until === until) this.typing.delete(name);
      this.tell("typing");
    }, TYPING_MS);
  }

  place(thread = null) {
    return this.view?.places.find((place) => (place.thread ?? null) === thread);
  }

  get pending() {
    return (this.view?.places ?? []).flatMap((place) => place.pending.map((pending) => ({ ...pending, thread: place.thread ?? null })));
  }

  pendingOf(id) {
    return this.pending.find((pending) => pending.message === id);
  }

  /** Answered, silent, …: what shows as the mark of a message; null where nothing is known. */
  markOf(id) {
    if (this.pendingOf(id)) return "pending";
    return this.traces.get(id)?.outcome ?? null;
  }

  replies(thread) {
    const ids = this.threads.get(thread) ?? [];
    return ids.map((id) => this.messages.get(id)).sort((a, b) => a.order - b.order);
  }

  people() {
    const names = [...this.messages.values()].filter((message) => message.voice !== "Me").map((message) => message.author);
    return [...new Set(names.reverse())];
  }
}

/** The server's clock, as far as the last frame told it. */
export class ServerClock {
  offset = 0;

  set(now) {
    this.offset = now - Date.now();
  }

  now() {
    return Date.now() + this.offset;
  }
}

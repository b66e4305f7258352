// Brings the parts together: who I am, which room I am in, what the server says and what the page does about it.

import { Composer } from "./composer.js";
import { Connection, Outbox } from "./connection.js";
import { ask, friendlyName, showShortcuts } from "./dialogs.js";
import { avatar, excerpt, h, span } from "./dom.js";
import { Reasoning } from "./reasoning.js";
import { Room, ServerClock } from "./room.js";
import { Talk } from "./talk.js";
import { followTheme } from "./theme.js";
import { fillIn, language, languages, listen, nextLanguage, speak, t } from "./messages.js";

const $ = (id) => document.getElementById(id);
/** Which it is the server says; until then it has no name. */
const FIRST_ROOM = "";

class App {
  rooms = new Map();
  known = [];
  first = FIRST_ROOM;
  charsMax = Infinity;
  failed = [];
  clock = new ServerClock();
  connection = new Connection();
  bot = { name: "aizuchi", model: "", judge: "", offline: false, preset: "" };
  /** What the server takes, as it says when one enters. */
  commands = [];
  /** What the server knows this tab by, and what everybody else does. */
  person = sessionStorage.getItem("person");
  me = sessionStorage.getItem("me");
  name = sessionStorage.getItem("name");

  async start() {
    await listen();
    fillIn();
    this.room = this.#room(roomInAddress() ?? FIRST_ROOM);
    this.composer = new Composer(this);
    $("composer").append(this.composer.element);
    this.talk = new Talk(this, { scroller: $("scroller"), list: $("messages"), outbox: $("outbox"), older: $("older"), newest: $("newest") });
    this.reasoning = new Reasoning(this, { setup: $("setup"), now: $("now"), floor: $("floor"), decisions: $("decisions") });
    this.connection.addEventListener("frame", ({ detail }) => this.#take(detail));
    this.connection.addEventListener("dropped", ({ detail }) => this.#failed(detail, t("page-too-large")));
    this.connection.addEventListener("state", () => this.#drawState());
    this.#wire();
    this.#drawAll();
    if (!this.name) this.#call(await this.#askName(true));
    this.#enter();
    setInterval(() => this.connection.state === "lost" && this.#drawState(), 500);
  }

  #wire() {
    addEventListener("hashchange", () => this.go(roomInAddress() ?? this.first));
    addEventListener("keydown", (event) => this.#key(event));
    followTheme($("theme"));
    $("language").addEventListener("click", () => this.#speak(nextLanguage()));
    $("help").addEventListener("click", showShortcuts);
    $("retry").addEventListener("click", () => this.connection.hurry());
    $("rename").addEventListener("click", () => this.#rename());
    $("open-room").addEventListener("click", () => this.#openRoom());
    $("close-room").addEventListener("click", () => this.#closeRoom());
    $("menu").addEventListener("click", () => this.show(document.body.dataset.pane === "rooms" ? "talk" : "rooms"));
    for (const tab of document.querySelectorAll("[data-pane-tab]")) tab.addEventListener("click", () => this.show(tab.dataset.paneTab));
    for (const row of document.querySelectorAll("[data-samples]")) row.replaceChildren(...this.#samples(row.dataset.samples));
  }

  #room(name) {
    if (!this.rooms.has(name)) this.rooms.set(name, this.#listenTo(new Room(name)));
    return this.rooms.get(name);
  }

  #listenTo(room) {
    const here = (react) => ({ detail }) => this.room === room && react(detail);
    room.addEventListener("message", here((message) => this.#heard(message)));
    room.addEventListener("notice", here((notice) => {
      this.talk.notice(notice);
      $("announce").textContent = notice.text;
    }));
    room.addEventListener("decided", here((trace) => {
      this.talk.refresh(trace.id);
      this.reasoning.drawDecisions();
    }));
    room.addEventListener("typing", here(() => this.#drawTyping()));
    room.addEventListener("caughtup", here(() => this.#caughtUp()));
    return room;
  }

  #enter() {
    const { room } = this;
    this.connection.enter(() => ({ room: room.name, name: this.name, language: language(), person: this.person, since: room.seq }), new Outbox(room.name));
  }

  /** To another room; the address says which. */
  go(name) {
    this.show("talk");
    if (name === this.room.name) return;
    this.room = this.#room(name);
    $("close-room").hidden = true;
    if (roomInAddress() !== name) location.hash = `/${encodeURIComponent(name)}`;
    this.reasoning.place(null);
    this.reasoning.select(null);
    this.composer.restore();
    this.#drawAll();
    this.#enter();
  }

  #take(frame) {
    switch (frame.tell) {
      case "hello": return this.#welcome(frame);
      case "rooms": return this.#setRooms(frame.rooms);
      case "moved": return this.go(frame.room);
      case "closed": return this.#leave(frame.room, t("page-room-closed", { room: frame.room }));
      case "taken": return this.#taken(frame);
      case "refused": return this.#refused(frame);
      case "caught_up": return this.#isAnother(frame) ? this.#startOver() : this.room.take(frame, this.clock);
      case "view":
        this.clock.set(frame.now);
        return this.#viewed(frame);
      default: return this.room.take(frame, this.clock);
    }
  }

  #welcome({ person, you, room, rooms, bot, commands, may_close, message_chars_max, now, version }) {
    this.clock.set(now);
    if (this.room.name !== room) this.#settle(room);
    this.charsMax = message_chars_max;
    if (you) this.#knowMe(you);
    this.person = person;
    sessionStorage.setItem("person", person);
    this.bot = bot;
    this.commands = commands;
    $("version").textContent = version;
    $("close-room").hidden = !may_close;
    this.#setRooms(rooms);
    this.composer.redraw();
    this.reasoning.draw();
  }

  /** Now it is known which room this is: the first, or one whose name was written in another case or width. */
  #settle(name) {
    if (this.room.name === FIRST_ROOM) this.first = name;
    else history.replaceState(null, "", `#/${encodeURIComponent(name)}`);
    this.rooms.delete(this.room.name);
    this.rooms.set(name, this.room);
    this.room.name = name;
    this.composer.settle();
    $("room-name").textContent = name;
    $("memory").href = `memory.html#${encodeURIComponent(name)}`;
    document.title = this.#title();
  }

  isMine(message) {
    return message.author_id === this.me;
  }

  #knowMe(id) {
    this.me = id;
    sessionStorage.setItem("me", id);
  }

  #taken({ id, sent }) {
    const message = this.room.messages.get(id);
    if (message && sent?.do === "say" && !this.isMine(message)) {
      this.#knowMe(message.author_id);
      for (const other of this.room.messages.keys()) this.talk.refresh(other);
    }
    this.talk.drawOutbox();
  }

  /** The server counts from the beginning again: it is not the room this page knew. */
  #isAnother({ seq }) {
    return seq < this.room.seq && !this.room.asksHistory;
  }

  #startOver() {
    this.room.forget();
    this.#drawAll();
    this.#enter();
  }

  #caughtUp() {
    $("empty").hidden = this.room.messages.size > 0;
    this.talk.older.hidden = !this.room.moreBefore;
  }

  /** Decisions about recent messages arrive anyway. */
  #askWhy(id) {
    const message = this.room.messages.get(id);
    if (!message || message.isNew || message.voice === "Me" || this.room.traces.has(id) || this.room.asked.has(id)) return;
    this.room.asked.add(id);
    this.connection.send({ do: "why", id });
  }

  #heard(message) {
    const sent = this.connection.outbox?.frames.find((frame) => frame.do === "say" && !frame.heard && frame.text === message.text);
    if (sent && message.author === this.name) sent.heard = true;
    if (this.room.asksHistory) this.talk.keepingPlace(() => this.talk.put(message));
    else this.talk.put(message);
    $("empty").hidden = true;
    this.#drawTyping();
    if (message.deleted) $("announce").textContent = "";
    if (message.isNew && message.version === message.order && !this.isMine(message)) {
      $("announce").textContent = t("page-new-message", { name: message.author, text: excerpt(message.text, 200) });
      if (document.hidden) document.title = `• ${this.#title()}`;
    }
    if (this.room.traces.has(message.id)) this.reasoning.drawDecisions();
  }

  #viewed(frame) {
    const before = this.room.pending.map(({ message }) => message);
    this.room.take(frame, this.clock);
    for (const id of new Set([...before, ...this.room.pending.map(({ message }) => message)])) this.talk.refresh(id);
    this.reasoning.drawSetup();
    this.reasoning.drawView();
  }

  #refused({ sent, why }) {
    if (this.connection.state !== "open") return this.#notLetIn(why);
    this.#failed(sent, why);
  }

  #failed(sent, why) {
    if (sent?.do === "say") {
      this.failed.push({ frame: sent, why });
      this.talk.drawOutbox();
    } else if (why) this.room.take({ tell: "notice", text: t("page-refused", { why }) }, this.clock);
  }

  /** The room or the name is not to its liking. */
  async #notLetIn(why) {
    this.connection.leave();
    if (this.room.name !== this.first) return this.#leave(this.room.name, t("page-refused", { why }));
    this.#call(await this.#askName(true, why));
    this.#enter();
  }

  /** To the first room, with the reason why this one is no longer there. */
  #leave(name, text) {
    this.rooms.delete(name);
    if (this.room.name === name) this.go(this.first);
    this.room.take({ tell: "notice", text }, this.clock);
  }

  again(entry) {
    this.dismiss(entry);
    this.connection.repeat(entry.frame);
    this.talk.drawOutbox();
  }

  dismiss(entry) {
    this.failed = this.failed.filter((other) => other !== entry);
    this.talk.drawOutbox();
  }

  say({ text, thread, reply_to }) {
    this.connection.sendSurely({ do: "say", text, thread, reply_to });
    this.talk.drawOutbox();
    this.talk.toEnd();
  }

  act(frame) {
    this.connection.sendSurely(frame);
  }

  async remove(message) {
    const sure = await ask({ title: t("page-delete-ask"), note: excerpt(message.text, 120), confirm: t("page-delete"), testid: "delete-dialog" });
    if (sure) this.act({ do: "delete", id: message.id });
  }

  older() {
    this.room.asksHistory = true;
    this.connection.send({ do: "history", before: this.room.oldest });
  }

  sample(of) {
    this.connection.send({ do: "sample", language: of });
    this.show("talk");
  }

  /** Shows why; `stay` leaves the talk in front on a phone. */
  story(id, { stay = false } = {}) {
    this.talk.select(id);
    if (id) this.#askWhy(id);
    this.reasoning.select(id);
    if (id && !stay) this.show("reasoning");
  }

  place(thread) {
    this.reasoning.place(thread);
  }

  show(pane) {
    document.body.dataset.pane = pane;
    for (const tab of document.querySelectorAll("[data-pane-tab]")) tab.setAttribute("aria-selected", String(tab.dataset.paneTab === pane));
    if (pane === "talk") this.talk.toEnd();
  }

  /** Who has just entered wants to write; on a touch screen that would cover half of the room with a keyboard. */
  async #askName(must, note = t("page-who-note")) {
    const value = this.name ?? friendlyName();
    const name = await ask({ title: t("page-who"), note, label: t("page-name"), value, confirm: must ? t("page-enter") : t("page-save"), must, testid: "name-dialog" });
    if (must && !matchMedia("(pointer: coarse)").matches) this.composer.field.focus();
    return name;
  }

  #call(name) {
    this.name = name;
    sessionStorage.setItem("name", name);
    this.#drawMe();
  }

  async #rename() {
    const name = await this.#askName(false);
    if (!name || name === this.name) return;
    this.#call(name);
    this.#enter();
  }

  async #openRoom() {
    const name = await ask({ title: t("page-open-room"), label: t("page-room-name"), confirm: t("page-open"), testid: "room-dialog" });
    if (name) this.go(name.replace(/^#/, "").replace(/[^\p{L}\p{N}_-]+/gu, "-"));
  }

  async #closeRoom() {
    const room = this.room.name;
    const sure = await ask({ title: t("page-close-room-ask", { room }), note: t("page-close-room-note"), confirm: t("page-close-room"), testid: "close-dialog" });
    if (sure) this.connection.send({ do: "close", key: "close", room });
  }

  #setRooms(rooms) {
    this.known = rooms;
    this.#drawRooms();
  }

  #samples(testid) {
    return languages().filter(({ sample }) => sample).map(({ id, name }) => h("button", {
      type: "button", class: "primary", lang: id, "data-sample": id, "data-testid": testid ? `${testid}-${id}` : null, click: () => this.sample(id),
    }, name));
  }

  async #speak(wanted) {
    await speak(wanted);
    fillIn();
    this.#drawAll();
    // The server speaks to this page as well.
    if (this.name) this.#enter();
  }

  #key(event) {
    const writes = event.target.matches?.("input, textarea, dialog *");
    if (event.key === "Escape" && !writes) return document.body.dataset.pane === "rooms" ? this.show("talk") : this.story(null);
    if (writes || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "?") showShortcuts();
    else if (event.key === "i" || event.key === "/") this.composer.field.focus();
    else return;
    event.preventDefault();
  }

  #title() {
    return `#${this.room.name} · aizuchi`;
  }

  #drawAll() {
    $("room-name").textContent = this.room.name;
    $("memory").href = `memory.html#${encodeURIComponent(this.room.name)}`;
    $("empty-text").textContent = t("page-empty-text", { bot: this.bot.name });
    $("empty").hidden = !this.room.caughtUp || this.room.messages.size > 0;
    document.title = this.#title();
    this.#drawRooms();
    this.#drawMe();
    this.#drawState();
    this.#drawTyping();
    this.composer.redraw();
    this.talk.show(this.room);
    this.reasoning.draw();
  }

  #drawRooms() {
    const names = new Set([...this.known, ...this.rooms.keys()].filter((name) => name !== FIRST_ROOM));
    $("rooms").replaceChildren(...[...names].map((name) => h("li", {}, h("a", {
      href: `#/${encodeURIComponent(name)}`, "data-testid": "room", "data-room": name, "aria-current": name === this.room.name ? "page" : null, click: () => this.show("talk"),
    }, h("span", { "aria-hidden": "true" }, "#"), name))));
  }

  #drawMe() {
    if (this.name) $("me").replaceChildren(avatar(this.name, "Person"), h("b", { "data-testid": "my-name" }, this.name));
  }

  #drawState() {
    const { state, retryAt, why } = this.connection;
    document.body.dataset.connection = state;
    $("banner").hidden = state !== "lost";
    for (const button of document.querySelectorAll("[data-sample]")) button.disabled = state !== "open";
    const wait = retryAt - Date.now();
    const lost = wait > 1500 ? t("page-lost", { time: span(wait) }) : t("page-lost-now");
    $("banner-text").textContent = why ? t("page-not-let-in", { why, time: span(wait) }) : lost;
    this.talk?.drawOutbox();
  }

  #drawTyping() {
    const names = [...this.room.typing.keys()].filter((name) => name !== this.name).slice(0, 3);
    $("typing").textContent = names.length ? t(names.length > 1 ? "page-typing-more" : "page-typing", { names: names.join(t("page-and")) }) : "";
  }
}

function roomInAddress() {
  const [, name] = /^#\/(.+)$/.exec(location.hash) ?? [];
  try { return name ? decodeURIComponent(name) : null; } catch { return null; }
}

document.addEventListener("visibilitychange", () => { if (!document.hidden) document.title = document.title.replace(/^• /, ""); });

const app = new App();
app.start();

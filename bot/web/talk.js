// The talk: messages in their order, threads unfolded below their first message, what is still being sent, notices for this page.

import { clock, day, h } from "./dom.js";
import { Composer } from "./composer.js";
import { editor, keepPicker, messageLine, picker } from "./message.js";
import { language, t } from "./messages.js";

const TOGETHER_MS = 5 * 60_000;
const NEAR_PX = 90;

export class Talk {
  #app;
  #items = new Map();
  #threads = new Map();
  #editing = null;
  #room = null;

  constructor(app, { scroller, list, outbox, older, newest }) {
    this.#app = app;
    Object.assign(this, { scroller, list, outbox, older, newest });
    this.acts = {
      goTo: (id) => this.goTo(id), story: (id) => app.story(id), react: (message, emoji, on) => app.act({ do: "react", id: message.id, emoji, on }),
      reply: (message) => this.#composerOf(message).replyTo(message), thread: (message) => this.toggleThread(message.id),
      edit: (message) => this.#edit(message), remove: (message) => app.remove(message),
    };
    list.addEventListener("keydown", (event) => this.#key(event));
    list.addEventListener("click", (event) => this.#clicked(event));
    older.addEventListener("click", () => app.older());
    newest.addEventListener("click", () => this.toEnd());
    scroller.addEventListener("scroll", () => { newest.hidden = this.#isNearEnd(); });
  }

  /** Another room, or the same one in another language. */
  show(room) {
    const unfolded = room === this.#room ? [...this.#threads.keys()] : [];
    this.#room = room;
    this.#items.clear();
    this.#threads.clear();
    this.#editing = null;
    this.list.replaceChildren();
    for (const message of [...room.messages.values()].sort((a, b) => a.order - b.order)) this.#place(message);
    for (const notice of room.notices) this.notice(notice);
    unfolded.forEach((id) => this.toggleThread(id));
    this.#arrange();
    this.drawOutbox();
    this.toEnd();
  }

  /** New or changed. */
  put(message) {
    const stays = !this.#isNearEnd();
    this.#place(message);
    this.#arrange();
    this.drawOutbox();
    const mine = message.isNew && this.#app.isMine(message);
    if (!stays || mine) this.toEnd();
    else this.newest.hidden = !message.isNew && this.newest.hidden;
  }

  /** Older messages come above without moving what is read. */
  keepingPlace(change) {
    const fromEnd = this.scroller.scrollHeight - this.scroller.scrollTop;
    change();
    this.scroller.scrollTop = this.scroller.scrollHeight - fromEnd;
  }

  refresh(id) {
    const message = this.#room.messages.get(id);
    if (message && this.#items.has(id)) this.#draw(message);
  }

  notice({ id, text, after, at }) {
    const item = h("li", { class: "notice", "data-testid": "notice", "data-after": after, id }, h("p", {}, text), h("small", {}, `${t("page-only-you")} · ${clock(at)}`));
    const next = [...this.list.children].find((other) => Number(other.dataset.order) > after);
    this.list.insertBefore(item, next ?? null);
    if (!next) this.toEnd();
  }

  drawOutbox() {
    const { connection, failed } = this.#app;
    const waiting = (connection.outbox?.frames ?? []).filter((frame) => frame.do === "say" && !frame.text.startsWith("/") && !frame.heard);
    const line = (frame, state, ...more) => h("li", { class: `sending ${state}`, "data-testid": state }, h("span", {}, frame.text), h("small", {}, ...more));
    this.outbox.replaceChildren(
      ...waiting.map((frame) => line(frame, "unsent", t("page-sending"))),
      ...failed.map((entry) => line(entry.frame, "failed", t("page-not-sent", { why: entry.why }), " ",
        h("button", { type: "button", "data-testid": "again", click: () => this.#app.again(entry) }, t("page-try-again")), " ", h("button", { type: "button", click: () => this.#app.dismiss(entry) }, t("page-dismiss")))));
    if (this.outbox.children.length && this.#isNearEnd()) this.toEnd();
  }

  #place(message) {
    let item = this.#items.get(message.id);
    if (!item) {
      item = h("li", { class: "message", tabindex: -1, "data-id": message.id, "data-order": message.order, "data-testid": "message" });
      this.#items.set(message.id, item);
      if (message.isNew) item.classList.add("fresh");
      const inThread = message.thread && this.#room.messages.has(message.thread);
      if (inThread) this.#threads.get(message.thread)?.list.append(item);
      else this.#insert(item, message.order);
      // What answered it before it was loaded stood on its own until now.
      this.#room.replies(message.id).forEach((reply) => this.#items.get(reply.id)?.remove());
    }
    this.#draw(message);
    if (message.thread) this.refresh(message.thread);
  }

  #insert(item, order) {
    let next = null;
    for (let other = this.list.lastElementChild; other && Number(other.dataset.order ?? other.dataset.after) > order; other = other.previousElementSibling) next = other;
    this.list.insertBefore(item, next);
  }

  #draw(message) {
    const item = this.#items.get(message.id);
    if (this.#editing === message.id && !message.deleted) return;
    const own = this.#app.isMine(message);
    // Drawn again only where it looks different: what somebody is about to click must not be swapped under their hand.
    const looks = JSON.stringify([message.version, own, this.#room.markOf(message.id), this.#room.replies(message.id).length, this.#room.messages.get(message.reply_to)?.version, this.#app.name, this.#app.bot.name, language()]);
    if (item.looks === looks) return;
    item.looks = looks;
    item.dataset.author = message.author;
    item.dataset.voice = message.voice;
    item.dataset.outcome = this.#room.markOf(message.id) ?? "";
    item.classList.toggle("own", own);
    item.classList.toggle("me", message.voice === "Me");
    item.classList.toggle("deleted", message.deleted);
    const context = { room: this.#room, own, me: this.#app.name, bot: this.#app.bot.name, acts: this.acts, inThread: Boolean(message.thread) };
    const line = messageLine(message, context);
    const before = item.firstElementChild?.classList.contains("line") ? item.firstElementChild : null;
    item.prepend(line);
    if (before && !message.deleted) keepPicker(before, line);
    before?.remove();
  }

  /** Who follows whom, and where a day begins. */
  #arrange() {
    for (const list of [this.list, ...[...this.#threads.values()].map((thread) => thread.list)]) {
      let before = null;
      for (const item of list.children) {
        const message = this.#room.messages.get(item.dataset.id);
        const today = message && day(message.at);
        item.classList.toggle("follows", Boolean(message && before && item.previousElementSibling?.dataset.id === before.id && before.author_id === message.author_id && message.at - before.at < TOGETHER_MS && !message.reply_to));
        if (message && list === this.list && (!before || day(before.at) !== today)) item.dataset.day = today;
        else delete item.dataset.day;
        before = message ?? before;
      }
    }
    this.older.hidden = !this.#room.moreBefore;
    if (!this.list.querySelector('[tabindex="0"]')) this.list.querySelector(":scope > .message:last-of-type")?.setAttribute("tabindex", 0);
  }

  toggleThread(id) {
    const item = this.#items.get(id);
    if (!item) return;
    if (this.#threads.has(id)) {
      this.#threads.get(id).element.remove();
      this.#threads.delete(id);
      return this.#app.place(null);
    }
    const list = h("ol", { class: "replies" });
    const composer = new Composer(this.#app, id);
    const fold = h("button", { type: "button", class: "fold", "data-testid": "close-thread", click: () => this.toggleThread(id) }, t("page-close-thread"));
    const element = h("div", { class: "thread", "data-testid": "thread-view" }, list, composer.element, fold);
    this.#threads.set(id, { element, list, composer });
    for (const reply of this.#room.replies(id)) {
      list.append(this.#items.get(reply.id));
      this.#draw(reply);
    }
    item.append(element);
    this.#arrange();
    composer.field.focus();
    element.scrollIntoView({ block: "nearest" });
    this.#app.place(id);
  }

  #composerOf(message) {
    return this.#threads.get(message.thread)?.composer ?? this.#app.composer;
  }

  goTo(id) {
    const message = this.#room.messages.get(id);
    if (message?.thread && !this.#threads.has(message.thread)) this.toggleThread(message.thread);
    this.#focus(this.#items.get(id));
  }

  /** Shows which message the story is about. */
  select(id) {
    this.list.querySelector(".selected")?.classList.remove("selected");
    this.#items.get(id)?.classList.add("selected");
  }

  focusLast() {
    this.#focus([...this.list.querySelectorAll(".message")].at(-1));
  }

  #focus(item) {
    if (!item) return;
    this.list.querySelector('[tabindex="0"]')?.setAttribute("tabindex", -1);
    item.setAttribute("tabindex", 0);
    item.focus();
    item.scrollIntoView({ block: "nearest" });
  }

  #clicked(event) {
    const item = event.target.closest(".message");
    if (!item || event.target.closest("button, a, textarea, form") || String(getSelection())) return;
    this.#focus(item);
    this.#app.story(item.dataset.id, { stay: true });
  }

  #key(event) {
    const item = event.target;
    if (!item.classList.contains("message") || event.ctrlKey || event.metaKey || event.altKey) return;
    const message = this.#room.messages.get(item.dataset.id);
    const own = this.#app.isMine(message) && !message.deleted;
    const all = [...this.list.querySelectorAll(".message")];
    const step = (by) => (all[all.indexOf(item) + by] ? this.#focus(all[all.indexOf(item) + by]) : by > 0 && this.#app.composer.field.focus());
    const keys = {
      ArrowUp: () => step(-1), ArrowDown: () => step(1), Home: () => this.#focus(all[0]), End: () => this.#focus(all.at(-1)),
      Enter: () => this.#app.story(message.id), " ": () => this.#app.story(message.id), Escape: () => this.#app.composer.field.focus(),
      r: () => this.acts.reply(message), t: () => message.thread || this.toggleThread(message.id), "+": () => picker(item.querySelector(".head"), message, this.acts),
      e: () => own && this.#edit(message), Delete: () => own && this.#app.remove(message),
    };
    if (!keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  }

  #edit(message) {
    const item = this.#items.get(message.id);
    const done = () => {
      this.#editing = item.looks = null;
      this.#draw(this.#room.messages.get(message.id));
      this.#focus(item);
    };
    const save = (text) => {
      if (text && text !== message.text) this.#app.act({ do: "edit", id: message.id, text });
      done();
    };
    this.#editing = message.id;
    const form = editor(message, { save, cancel: done });
    item.querySelector(".text").replaceChildren(form);
    const field = form.querySelector("textarea");
    field.focus();
    field.setSelectionRange(field.value.length, field.value.length);
  }

  toEnd() {
    this.scroller.scrollTop = this.scroller.scrollHeight;
    this.newest.hidden = true;
  }

  #isNearEnd() {
    return this.scroller.scrollHeight - this.scroller.scrollTop - this.scroller.clientHeight < NEAR_PX;
  }
}

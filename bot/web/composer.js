// Where people write: sends with Enter (never in the middle of a Japanese conversion), completes names and commands, keeps drafts.

import { h, icon, tool } from "./dom.js";
import { t } from "./messages.js";

const TYPING_EVERY_MS = 3000;

/** `app` gives room, bot, commands and connection; `thread` is null for the room itself. */
export class Composer {
  #app;
  #thread;
  #replyTo = null;
  #told = 0;
  #choices = [];
  #chosen = 0;

  constructor(app, thread = null) {
    this.#app = app;
    this.#thread = thread;
    const test = thread ? "thread-" : "";
    this.field = h("textarea", {
      rows: 1, autocomplete: "off", enterkeyhint: "send", "aria-autocomplete": "list", "data-testid": `${test}composer`,
      input: () => this.#changed(), keydown: (event) => this.#key(event), blur: () => setTimeout(() => this.#left(), 150), click: () => this.#complete(),
    });
    this.context = h("div", { class: "context", hidden: true, "data-testid": "reply-context" });
    this.limit = h("div", { class: "limit", role: "status", hidden: true, "data-testid": "too-long" });
    this.list = h("ul", { class: "suggestions", role: "listbox", hidden: true, "data-testid": "suggestions" });
    this.button = h("button", { type: "submit", class: "send", "data-testid": `${test}send` }, icon("send"));
    this.element = h("form", { class: "composer", submit: (event) => this.#submit(event) }, this.list, this.context, this.limit, h("div", { class: "field" }, this.field, this.button));
    this.redraw();
    this.restore();
  }

  get #draftKey() {
    return `draft:${this.#app.room.name}:${this.#thread ?? ""}`;
  }

  redraw() {
    const { room, bot } = this.#app;
    this.field.placeholder = this.#thread ? t("page-reply-thread") : t("page-message-hint", { room: room.name, bot: bot.name });
    this.field.setAttribute("aria-label", this.#thread ? t("page-reply-thread") : t("page-message-to", { room: room.name }));
    this.button.setAttribute("aria-label", t("page-send"));
    this.#drawContext();
    this.#drawLimit();
  }

  /** What was written before it was known which room this is stays. */
  settle() {
    if (this.field.value) sessionStorage.setItem(this.#draftKey, this.field.value);
    else this.restore();
  }

  /** The draft of this room. */
  restore() {
    this.field.value = sessionStorage.getItem(this.#draftKey) ?? "";
    this.#replyTo = null;
    this.#drawContext();
    this.#grow();
  }

  replyTo(message) {
    this.#replyTo = message;
    this.#drawContext();
    this.field.focus();
  }

  #drawContext() {
    this.context.hidden = !this.#replyTo;
    if (!this.#replyTo) return;
    const stop = tool("close", t("page-stop-reply"), () => this.replyTo(null), "stop-reply");
    this.context.replaceChildren(icon("reply"), h("span", {}, t("page-replying-to", { name: this.#replyTo.author })), stop);
  }

  #changed() {
    this.#grow();
    sessionStorage.setItem(this.#draftKey, this.field.value);
    this.#complete();
    const text = this.field.value;
    if (!text.trim() || text.startsWith("/") || Date.now() - this.#told < TYPING_EVERY_MS) return;
    this.#told = Date.now();
    this.#app.connection.send({ do: "typing", thread: this.#thread });
  }

  /** Characters beyond what the room takes, counted as the server does. */
  get #excess() {
    return [...this.field.value.trim()].length - this.#app.charsMax;
  }

  #drawLimit() {
    const excess = this.#excess;
    this.limit.hidden = excess <= 0;
    if (excess > 0) this.limit.textContent = t("page-too-long", { n: excess.toLocaleString(), most: this.#app.charsMax.toLocaleString() });
    this.button.disabled = excess > 0 || !this.field.value.trim();
  }

  #grow() {
    this.field.style.setProperty("height", "auto");
    if (this.field.scrollHeight) this.field.style.setProperty("height", `${Math.min(this.field.scrollHeight, 180)}px`);
    this.#drawLimit();
  }

  #key(event) {
    // While a conversion is open, Enter picks its words; some browsers only say so with the key code.
    if (event.isComposing || event.keyCode === 229) return;
    if (this.#choices.length && this.#choose(event)) return;
    if (event.key === "Enter" && !event.shiftKey) this.#submit(event);
    else if (event.key === "Escape" && this.#replyTo) this.replyTo(null);
    else if (event.key === "ArrowUp" && !this.field.value && !this.#thread) {
      event.preventDefault();
      this.#app.talk.focusLast();
    }
  }

  #submit(event) {
    event.preventDefault();
    const text = this.field.value.trim();
    if (!text || this.#excess > 0) return;
    this.#app.say({ text, thread: this.#thread, reply_to: this.#replyTo?.id ?? null });
    this.field.value = "";
    this.#replyTo = null;
    this.#told = 0;
    sessionStorage.removeItem(this.#draftKey);
    this.#drawContext();
    this.#suggest([]);
    this.#grow();
    this.field.focus();
  }

  /** A field that has the focus again keeps its offers. */
  #left() {
    if (document.activeElement !== this.field) this.#suggest([]);
  }

  /** What could be meant by the word before the caret. */
  #complete() {
    const before = this.field.value.slice(0, this.field.selectionStart);
    const [, command, argument] = /^\/(\S*)(?:\s+(\S*))?$/.exec(before) ?? [];
    const [, name] = /(?:^|[\s、。])@([^\s@]*)$/.exec(before) ?? [];
    if (argument !== undefined) this.#suggest(this.#choicesOf(command, argument));
    else if (command !== undefined) this.#suggest(this.#commandsLike(command));
    else if (name !== undefined) {
      const names = [this.#app.bot.name, ...this.#app.room.people()].filter((person) => person !== this.#app.name);
      const fits = names.filter((person) => person.toLowerCase().startsWith(name.toLowerCase()) && person.toLowerCase() !== name.toLowerCase());
      this.#suggest([...new Set(fits)].slice(0, 6).map((person) => ({ text: `@${person} `, note: "", from: before.length - name.length - 1 })));
    } else this.#suggest([]);
  }

  /** The commands that begin so, with their arguments. */
  #commandsLike(typed) {
    const wanted = typed.toLowerCase();
    const fits = this.#app.commands.filter(({ name, alias }) => name !== wanted && alias !== wanted && (name.startsWith(wanted) || alias.startsWith(wanted)));
    return fits.map(({ name, usage, help, takes_argument }) => ({ text: `/${name}${takes_argument ? " " : ""}`, shown: `/${usage}`, note: help, from: 0 }));
  }

  /** What may follow a command that takes one of a few words. */
  #choicesOf(typed, begun) {
    const known = this.#app.commands.find(({ name, alias }) => [name, alias].includes(typed.toLowerCase()));
    const fits = (known?.choices ?? []).filter((choice) => choice !== begun && choice.startsWith(begun.toLowerCase()));
    return fits.map((choice) => ({ text: `/${known.name} ${choice}`, note: "", from: 0 }));
  }

  #suggest(choices) {
    this.#choices = choices;
    this.#chosen = 0;
    this.list.hidden = !choices.length;
    this.list.replaceChildren(...choices.map((choice, place) => h("li", {
      role: "option", id: `choice-${this.#thread ?? "room"}-${place}`, "aria-selected": String(place === 0), "data-testid": "suggestion",
      pointerdown: (event) => { event.preventDefault(); this.#accept(choice); },
    }, h("b", {}, choice.shown ?? choice.text.trim()), h("span", {}, choice.note))));
    this.#point();
  }

  #point() {
    [...this.list.children].forEach((item, place) => item.setAttribute("aria-selected", String(place === this.#chosen)));
    const item = this.list.children[this.#chosen];
    if (item) {
      this.field.setAttribute("aria-activedescendant", item.id);
      item.scrollIntoView({ block: "nearest" });
    } else this.field.removeAttribute("aria-activedescendant");
  }

  /** Whether the key was for the list. */
  #choose(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      this.#chosen = (this.#chosen + step + this.#choices.length) % this.#choices.length;
      this.#point();
    } else if (event.key === "Tab" || (event.key === "Enter" && !event.shiftKey)) this.#accept(this.#choices[this.#chosen]);
    else if (event.key === "Escape") this.#suggest([]);
    else return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  }

  #accept({ text, from }) {
    const after = this.field.value.slice(this.field.selectionStart);
    this.field.value = this.field.value.slice(0, from) + text + after;
    this.field.setSelectionRange(from + text.length, from + text.length);
    this.#suggest([]);
    this.#changed();
    if (!text.startsWith("/")) this.#suggest([]);
  }
}

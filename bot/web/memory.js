// What is remembered of a room, to be seen, mended and forgotten.

import { avatar, fullTime, h } from "./dom.js";
import { followTheme } from "./theme.js";
import { fillIn, language, speak, t } from "./words.js";

const $ = (id) => document.getElementById(id);

class Memory {
  room = decodeURIComponent(location.hash.slice(1)) || "lobby";
  known = null;

  async start() {
    fillIn();
    followTheme($("theme"));
    $("language").addEventListener("click", () => { speak(language() === "ja" ? "en" : "ja"); fillIn(); this.draw(); });
    $("room").addEventListener("change", () => { location.hash = encodeURIComponent($("room").value); });
    addEventListener("hashchange", () => { this.room = decodeURIComponent(location.hash.slice(1)) || "lobby"; this.load(); });
    await this.load();
  }

  async load() {
    try {
      const answer = await fetch(`api/memory/${encodeURIComponent(this.room)}`);
      if (!answer.ok) throw new Error(await answer.text());
      this.known = await answer.json();
      this.trouble(null);
    } catch (error) {
      this.trouble(error.message);
    }
    this.draw();
  }

  async wish(fact, wish) {
    try {
      const address = `api/memory/${encodeURIComponent(this.room)}/facts/${fact.id}`;
      const answer = await fetch(address, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(wish) });
      if (!answer.ok) throw new Error(await answer.text());
      await this.load();
    } catch (error) {
      this.trouble(error.message);
    }
  }

  trouble(why) {
    $("trouble").hidden = !why;
    $("trouble").textContent = why ? t("memory_failed", { why }) : "";
  }

  draw() {
    $("note").textContent = t("memory_note", { room: this.room });
    $("back").href = `./#/${encodeURIComponent(this.room)}`;
    if (!this.known) return;
    const rooms = [...new Set([...this.known.rooms, this.room])];
    $("room").replaceChildren(...rooms.map((room) => h("option", { value: room, selected: room === this.room }, `#${room}`)));
    $("channel").replaceChildren(this.channel(this.known.channel));
    $("people").replaceChildren(...this.list(this.known.people, "memory_no_people", (person) => this.person(person)));
    $("facts").replaceChildren(...this.list(this.known.facts, "memory_no_facts", (fact) => this.fact(fact)));
  }

  list(items, none, show) {
    return items.length ? items.map(show) : [h("li", { class: "none" }, t(none))];
  }

  channel(channel) {
    if (!channel) return h("p", { class: "none" }, t("memory_none"));
    const row = (label, value) => (value ? [h("dt", {}, t(label)), h("dd", {}, value)] : []);
    const comma = language() === "ja" ? "、" : ", ";
    return h("div", {},
      h("p", { "data-testid": "memory-summary" }, channel.summary),
      h("dl", {}, row("memory_topics", channel.topics.join(comma)), row("memory_mood", channel.mood), row("memory_active", channel.active.join(comma))),
      h("small", {}, fullTime(channel.at)));
  }

  person(person) {
    const words = [...person.tags, ...person.topics];
    return h("li", {},
      h("div", { class: "head" }, avatar(person.name, "Person"), h("b", {}, person.name), h("span", { class: "tag" }, t(`familiarity_${person.familiarity}`))),
      h("small", {}, `${t("memory_messages", { n: person.messages })} · ${t("memory_last_seen", { time: fullTime(person.last_seen) })}`),
      words.length ? h("div", { class: "actions" }, words.map((word) => h("span", { class: "tag" }, word))) : null,
      person.notes.map((note) => h("p", {}, note)),
      person.last_talk ? h("p", {}, person.last_talk) : null);
  }

  fact(fact) {
    const names = fact.people.filter(Boolean).join(language() === "ja" ? "、" : ", ");
    const percent = Math.round(100 * fact.strength);
    const item = h("li", { "data-testid": "memory-fact" },
      h("p", { "data-testid": "memory-content" }, fact.content),
      h("div", { class: "actions" },
        h("meter", { min: 0, max: 1, value: fact.strength, "aria-label": t("memory_strength", { n: percent }) }),
        h("small", {}, `${t("memory_strength", { n: percent })} · ${t("memory_uses", { n: fact.uses })} · ${t("memory_from", { names, time: fullTime(fact.at) })}`),
        fact.pinned ? h("span", { class: "tag" }, t("memory_pinned")) : null),
      h("div", { class: "actions" },
        h("button", { type: "button", "data-testid": "memory-edit", click: () => this.edit(item, fact) }, t("memory_edit")),
        h("button", { type: "button", "data-testid": "memory-pin", click: () => this.wish(fact, { pin: { pinned: !fact.pinned } }) }, t(fact.pinned ? "memory_unpin" : "memory_pin")),
        h("button", { type: "button", "data-testid": "memory-forget", click: () => this.forget(item, fact) }, t("memory_forget"))));
    return item;
  }

  edit(item, fact) {
    const field = h("textarea", { rows: 3, maxlength: 500, "data-testid": "memory-field", "aria-label": t("memory_edit") });
    field.value = fact.content;
    item.replaceChildren(field, h("div", { class: "actions" },
      h("button", { type: "button", "data-testid": "memory-save", click: () => this.wish(fact, { edit: { content: field.value } }) }, t("save")),
      h("button", { type: "button", click: () => this.draw() }, t("cancel"))));
    field.focus();
  }

  forget(item, fact) {
    const ask = h("div", { class: "actions" }, h("b", {}, t("memory_forget_ask")),
      h("button", { type: "button", "data-testid": "memory-forget-yes", click: () => this.wish(fact, "forget") }, t("memory_forget")),
      h("button", { type: "button", click: () => this.draw() }, t("cancel")));
    item.lastElementChild.replaceWith(ask);
    ask.querySelector("button").focus();
  }
}

new Memory().start();

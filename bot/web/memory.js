// What is remembered of a room, to be read, corrected and forgotten.

import { avatar, fullTime, h } from "./dom.js";
import { followTheme } from "./theme.js";
import { fillIn, listen, nextLanguage, speak, t } from "./messages.js";

const $ = (id) => document.getElementById(id);

class Memory {
  room = decodeURIComponent(location.hash.slice(1)) || "lobby";
  known = null;

  async start() {
    await listen();
    fillIn();
    followTheme($("theme"));
    $("language").addEventListener("click", async () => { await speak(nextLanguage()); fillIn(); this.draw(); });
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
    $("trouble").textContent = why ? t("page-memory-failed", { why }) : "";
  }

  draw() {
    $("note").textContent = t("page-memory-note", { room: this.room });
    $("back").href = `./#/${encodeURIComponent(this.room)}`;
    if (!this.known) return;
    const rooms = [...new Set([...this.known.rooms, this.room])];
    $("room").replaceChildren(...rooms.map((room) => h("option", { value: room, selected: room === this.room }, `#${room}`)));
    $("channel").replaceChildren(this.channel(this.known.channel));
    $("people").replaceChildren(...this.list(this.known.people, "page-memory-no-people", (person) => this.person(person)));
    $("pairs").replaceChildren(this.pairs(this.known.pairs));
    $("facts").replaceChildren(...this.list(this.known.facts, "page-memory-no-facts", (fact) => this.fact(fact)));
  }

  list(items, none, show) {
    return items.length ? items.map(show) : [h("li", { class: "none" }, t(none))];
  }

  channel(channel) {
    if (!channel) return h("p", { class: "none" }, t("page-memory-none"));
    const row = (label, value) => (value ? [h("dt", {}, t(label)), h("dd", {}, value)] : []);
    const comma = t("list-separator");
    return h("div", {},
      h("p", { "data-testid": "memory-summary" }, channel.summary),
      h("dl", {}, row("page-memory-topics", channel.topics.join(comma)), row("page-memory-mood", channel.mood), row("page-memory-active", channel.active.join(comma))),
      h("small", {}, fullTime(channel.at)));
  }

  person(person) {
    const words = [...person.tags, ...person.topics];
    return h("li", {},
      h("div", { class: "head" }, avatar(person.name, "Person"), h("b", {}, person.name), h("span", { class: "tag" }, t(`familiarity-${person.familiarity}`))),
      h("small", {}, `${t("page-memory-messages", { n: person.messages })} · ${t("page-memory-last-seen", { time: fullTime(person.last_seen) })}`),
      words.length ? h("div", { class: "actions" }, words.map((word) => h("span", { class: "tag" }, word))) : null,
      person.notes.map((note) => h("p", {}, note)),
      person.last_talk ? h("p", {}, person.last_talk) : null);
  }

  pairs(pairs) {
    if (!pairs.length) return h("p", { class: "none" }, t("page-memory-no-pairs"));
    const heading = (label) => h("th", { scope: "col" }, t(label));
    const row = ({ people: [one, other], answers: [there, back], words, last }) => h("tr", { "data-testid": "memory-pair" },
      h("th", { scope: "row" }, t("page-memory-pair", { one, other })),
      h("td", {}, t("page-memory-answers", { one, other, there, back })),
      h("td", {}, words.join(t("list-separator"))),
      h("td", {}, fullTime(last)));
    return h("table", { "aria-labelledby": "pairs-title" },
      h("thead", {}, h("tr", {}, ["page-memory-who", "page-memory-how-often", "page-memory-about", "page-memory-last"].map(heading))),
      h("tbody", {}, pairs.map(row)));
  }

  fact(fact) {
    const names = fact.people.filter(Boolean).join(t("list-separator"));
    const percent = Math.round(100 * fact.strength);
    const item = h("li", { "data-testid": "memory-fact" },
      h("p", { "data-testid": "memory-content" }, fact.content),
      h("div", { class: "actions" },
        h("meter", { min: 0, max: 1, value: fact.strength, "aria-label": t("page-memory-strength", { n: percent }) }),
        h("small", {}, `${t("page-memory-strength", { n: percent })} · ${t("page-memory-uses", { n: fact.uses })} · ${t("page-memory-from", { names, time: fullTime(fact.at) })}`),
        fact.former === null ? null : h("span", { class: "tag" }, t("fact-former")),
        fact.pinned ? h("span", { class: "tag" }, t("page-memory-pinned")) : null),
      h("div", { class: "actions" },
        h("button", { type: "button", "data-testid": "memory-edit", click: () => this.edit(item, fact) }, t("page-memory-edit")),
        h("button", { type: "button", "data-testid": "memory-pin", click: () => this.wish(fact, { pin: { pinned: !fact.pinned } }) }, t(fact.pinned ? "page-memory-unpin" : "page-memory-pin")),
        h("button", { type: "button", "data-testid": "memory-forget", click: () => this.forget(item, fact) }, t("page-memory-forget"))));
    return item;
  }

  edit(item, fact) {
    const field = h("textarea", { rows: 3, maxlength: 500, "data-testid": "memory-field", "aria-label": t("page-memory-edit") });
    field.value = fact.content;
    item.replaceChildren(field, h("div", { class: "actions" },
      h("button", { type: "button", "data-testid": "memory-save", click: () => this.wish(fact, { edit: { content: field.value } }) }, t("page-save")),
      h("button", { type: "button", click: () => this.draw() }, t("page-cancel"))));
    field.focus();
  }

  forget(item, fact) {
    const ask = h("div", { class: "actions" }, h("b", {}, t("page-memory-forget-ask")),
      h("button", { type: "button", "data-testid": "memory-forget-yes", click: () => this.wish(fact, "forget") }, t("page-memory-forget")),
      h("button", { type: "button", click: () => this.draw() }, t("page-cancel")));
    item.lastElementChild.replaceWith(ask);
    ask.querySelector("button").focus();
  }
}

new Memory().start();

// The pane beside the talk: how the bot is set up, what it is about to do, who holds the floor, what it decided and why.

import { floorBars, ring, scoreBar, scoreChips } from "./charts.js";
import { clock as time, clockSeconds, dollars, excerpt, h, icon, span } from "./dom.js";
import { t } from "./messages.js";
import { reason } from "./reason.js";
import { outcomeBadge, pointsOf, story } from "./story.js";

const DECISIONS_MAX = 40;

export class Reasoning {
  #app;
  #counting = [];
  #selected = null;
  #thread = null;

  constructor(app, { setup, now, floor, decisions }) {
    this.#app = app;
    Object.assign(this, { setup, now, floor, decisions });
    setInterval(() => this.#tick(), 200);
  }

  /** Everything again: another room, another language. */
  draw() {
    this.drawSetup();
    this.drawView();
    this.drawDecisions();
  }

  get selected() {
    return this.#selected;
  }

  select(id) {
    this.#selected = id;
    this.drawDecisions();
    if (id) this.decisions.scrollIntoView({ block: "nearest" });
  }

  place(thread) {
    this.#thread = thread;
    this.#drawFloor();
  }

  drawSetup() {
    const { bot, room } = this.#app;
    const spent = room.view?.spent ?? { calls: 0, tokens: 0, micros: 0 };
    const mute = room.view?.mute;
    const until = mute?.Until ?? mute?.until;
    this.setup.replaceChildren(
      bot.offline ? h("p", { class: "callout offline", "data-testid": "offline" }, h("b", {}, t("page-offline-title")), ` — ${t("page-offline")}`) : "",
      bot.local ? h("p", { class: "quiet", "data-testid": "local-server" }, t("page-local-server", bot.local)) : "",
      mute ? h("p", { class: "callout mute", "data-testid": "muted" }, icon("muted"),
        h("span", {}, h("b", {}, until ? t("page-muted-until", { time: time(until) }) : t("page-muted-open")), ` · ${t("page-unmute-hint")}`)) : "",
      room.view && !room.view.listens ? h("p", { class: "callout mute" }, icon("muted"), t("page-deaf")) : "",
      h("dl", { class: "meters" },
        this.#meter(t("page-model"), bot.offline ? "offline" : bot.model, "model"),
        bot.judge && bot.judge !== bot.model && !bot.offline ? this.#meter(t("page-judge"), bot.judge, "judge") : "",
        this.#meter(t("page-preset"), bot.preset, "preset"),
        this.#meter(t("page-spent"), `${dollars(spent.micros)} · ${t("page-calls", { n: spent.calls })}`, "spent")));
  }

  #meter(label, value, testid) {
    return h("div", {}, h("dt", {}, label), h("dd", { "data-testid": testid, title: value }, value));
  }

  /** What is pending and who speaks. */
  drawView() {
    this.#counting = [];
    const pending = this.#app.room.pending;
    this.now.replaceChildren(...(pending.length ? pending.map((open) => this.#card(open)) : [this.#listening()]));
    this.#drawFloor();
    if (this.#selected) this.drawDecisions();
    this.#tick();
  }

  #listening() {
    return h("p", { class: "listening", "data-testid": "listening" }, h("i", {}), h("span", {}, t("page-listening")));
  }

  #drawFloor() {
    const shares = this.#app.room.place(this.#thread)?.floor ?? [];
    this.floor.replaceChildren(
      h("h3", {}, t(this.#thread ? "page-floor-thread" : "page-floor")),
      shares.length ? floorBars(shares) : h("p", { class: "quiet" }, t("page-floor-none")));
  }

  /** One thing it is about to do, with its countdown. */
  #card(open) {
    const message = this.#app.room.messages.get(open.message);
    const hand = ring(open.doing);
    const left = h("span", { class: "left", "data-testid": "countdown" });
    this.#counting.push({ hand, left, since: open.since, due: open.due });
    return h("div", { class: `pending ${open.doing}`, "data-testid": "pending", "data-doing": open.doing },
      h("div", { class: "dial" }, hand),
      h("div", { class: "what" },
        h("p", {}, h("b", {}, t(`page-doing-${open.doing}`)), " ", left),
        h("button", { type: "button", class: "about", click: () => this.#app.story(open.message) }, `${open.author}: ${message ? excerpt(message.text, 60) : "…"}`),
        open.points.length ? scoreBar(open.points, open.score) : null));
  }

  #tick() {
    const now = this.#app.clock.now();
    for (const { hand, left, since, due } of this.#counting) {
      if (due === null || due === undefined) {
        hand.turn(null);
        left.textContent = now - since > 1500 ? t("page-since", { time: span(now - since) }) : "";
      } else {
        hand.turn(Math.max(0, Math.min(1, (due - now) / Math.max(1, due - since))));
        left.textContent = due > now ? t("page-left", { time: span(Math.ceil((due - now) / 1000) * 1000) }) : t("page-any-moment");
      }
    }
  }

  drawDecisions() {
    const { room } = this.#app;
    const message = this.#selected ? room.messages.get(this.#selected) : null;
    if (!message) {
      this.#selected = null;
      return this.decisions.replaceChildren(h("h3", {}, t("page-decisions")), this.#feed(room));
    }
    const open = room.pendingOf(message.id);
    const back = h("button", { type: "button", class: "back", "data-testid": "back", click: () => this.#app.story(null) }, `← ${t("page-back")}`);
    const unfolded = this.decisions.querySelector("details[open]") !== null && this.decisions.querySelector(".story")?.dataset.id === message.id;
    this.decisions.replaceChildren(h("header", {}, h("h3", {}, t("page-story")), back), story(message, room.traces.get(message.id), room, open ? this.#card(open) : null));
    if (unfolded) this.decisions.querySelector("details")?.setAttribute("open", "");
    this.#tick();
  }

  #feed(room) {
    const told = [...room.traces.values()].filter((trace) => room.messages.has(trace.id) && room.messages.get(trace.id).voice !== "Me");
    told.sort((a, b) => room.messages.get(b.id).order - room.messages.get(a.id).order);
    if (!told.length) return h("p", { class: "quiet" }, t("page-decisions-none"));
    return h("ol", { class: "feed", "data-testid": "feed" }, told.slice(0, DECISIONS_MAX).map((trace) => this.#decision(trace, room)));
  }

  #decision(trace, room) {
    const message = room.messages.get(trace.id);
    const points = pointsOf(trace);
    return h("li", { class: `decision ${trace.outcome}`, "data-testid": "decision", "data-outcome": trace.outcome, "data-id": trace.id },
      h("div", { class: "row" }, outcomeBadge(trace.outcome), h("time", { title: clockSeconds(message.at) }, time(message.at)), trace.score === null ? null : h("b", { class: "score", title: t("page-score") }, String(trace.score))),
      h("button", { type: "button", class: "about", click: () => this.#app.story(trace.id) }, h("b", {}, message.author), ` ${message.deleted ? t("page-deleted") : excerpt(message.text, 64)}`),
      points.length ? scoreBar(points, trace.score) : null,
      points.length ? scoreChips(points) : null,
      h("p", { class: "why", "data-testid": "reason" }, reason(trace, room)));
  }
}

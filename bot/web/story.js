// The full story of one message: how far it came, what made joining likely, how its points add up, which gate closed, what the judge said and cost.

import { oddsRows, waterfall } from "./charts.js";
import { avatar, clockSeconds, dollars, h, span } from "./dom.js";
import { gate, t } from "./messages.js";
import { reason } from "./reason.js";

const ACTED = ["reacts", "acknowledges", "replies"];
const ADDRESSED = ["mention", "name", "reply"];

/** What speaks for it first, the heaviest first. */
export const pointsOf = (trace) => Object.entries(trace.points ?? {}).sort(([, one], [, other]) => other - one);
export const acted = (trace) => ACTED.includes(trace.outcome);

export function outcomeBadge(outcome) {
  return h("span", { class: `outcome ${outcome}`, "data-testid": "outcome", "data-outcome": outcome }, h("i", {}), t(`outcome-${outcome}`));
}

/** `pending` is the card of what is still open about it. */
export function story(message, trace, room, pending) {
  return h("div", { class: "story", "data-testid": "story", "data-id": message.id },
    h("blockquote", {}, avatar(message.author, message.voice),
      h("div", {}, h("b", {}, message.author), " ", h("time", {}, clockSeconds(message.at)), h("p", {}, message.deleted ? t("page-deleted") : message.text))),
    pending,
    trace ? decided(message, trace, room) : pending ? null : h("p", { class: "quiet" }, t(message.voice === "Me" ? "page-own-message" : "page-unknown")));
}

function decided(message, trace, room) {
  const points = pointsOf(trace);
  return [
    h("p", { class: "verdict", "data-testid": "reason" }, outcomeBadge(trace.outcome), h("span", {}, reason(trace, room))),
    path(trace, points),
    trace.odds?.length ? section(t("page-odds"), oddsRows(trace.odds)) : null,
    points.length || (trace.score !== null && trace.p_join === null)
      ? section(t("page-counted"), points.length ? waterfall(points, trace.score) : h("p", { class: "quiet" }, t("page-nothing-counted")),
        isClamped(points, trace.score) ? h("p", { class: "quiet" }, t("page-clamped")) : null)
      : null,
    trace.gate ? section(t("page-gate"), h("p", { class: "gate", "data-testid": "gate", "data-gate": trace.gate }, gate(trace.gate))) : null,
    trace.asked?.length ? section(t("page-judged"), trace.asked.map(question)) : null,
    facts(message, trace),
  ];
}

const isClamped = (points, score) => score !== null && points.reduce((total, [, worth]) => total + worth, 0) !== score;
const section = (title, ...content) => h("section", {}, h("h4", {}, title), content.flat());

/** The stations a message passes, and the one where this one stopped. */
function path(trace, points) {
  const called = Boolean(trace.addressed) || points.some(([id]) => ADDRESSED.includes(id));
  const stations = called ? ["heard", "address", "gate", "post"] : ["heard", "score", "gate", "judge", "hold", "post"];
  const end = acted(trace) ? "post" : { filter: "heard" }[trace.stage] ?? trace.stage;
  const last = Math.max(0, stations.indexOf(end));
  const skipped = (station) => station === "judge" && !trace.asked?.length;
  return h("ol", { class: `path ${trace.outcome}`, "aria-label": t("page-path") }, stations.map((station, place) => {
    const state = place === last ? "end" : place < last ? (skipped(station) ? "skipped" : "passed") : "ahead";
    return h("li", { class: state, "aria-current": state === "end" ? "step" : null }, t(`page-stage-${station}`));
  }));
}

/** A model's answer may be JSON or a few words. */
function read(answer) {
  const text = String(answer ?? "");
  try {
    const found = JSON.parse(text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1));
    return { ...found, respond: found.respond ?? found.should_respond };
  } catch {
    const yes = /^\s*yes\b/i.test(text);
    return yes || /^\s*no\b/i.test(text) ? { respond: yes } : { words: text };
  }
}

function question(asked) {
  const answer = asked.failed ? { words: asked.answer } : read(asked.answer);
  const verdict = asked.failed ? "failed" : answer.respond === true ? "yes" : answer.respond === false ? "no" : null;
  const details = [
    typeof answer.confidence === "number" ? t("page-confidence", { n: Math.round(answer.confidence * 100) }) : null,
    answer.delay_seconds ? t("page-delay", { time: span(answer.delay_seconds * 1000) }) : null,
    asked.cached ? t("page-cached") : null,
    t("page-chars", { n: Number(asked.prompt_chars ?? 0).toLocaleString() }),
  ].filter(Boolean);
  return h("div", { class: "question", "data-testid": "asked" },
    h("p", {}, h("b", {}, t(`page-asked-${asked.question}`)), " ",
      verdict ? h("span", { class: `answer ${verdict}` }, verdict === "failed" ? t("page-failed") : t(`page-says-${verdict}`)) : h("span", { class: "answer" }, answer.words || answer.state || "")),
    answer.reason ? h("p", { class: "judgement" }, answer.reason) : null,
    h("p", { class: "quiet" }, details.join(" · ")),
    verdict && asked.answer ? h("details", {}, h("summary", {}, t("page-raw")), h("code", {}, String(asked.answer))) : null);
}

function facts(message, trace) {
  const at = trace.acted_at === null || trace.acted_at === undefined ? null : trace.acted_at * 1000;
  return h("dl", { class: "facts" },
    at === null ? null : [h("dt", {}, t("page-acted")), h("dd", {}, `${clockSeconds(at)} · ${t("page-after", { time: span(at - message.at) })}`)],
    trace.micros === undefined ? null : [h("dt", {}, t("page-cost")), h("dd", { "data-testid": "cost" }, dollars(trace.micros))]);
}

// The drawings of the reasoning: what changed the likelihood, points by rule, the countdown of a wait, who holds the floor.

import { h, hue, signed, svg } from "./dom.js";
import { rule, t } from "./messages.js";

/** Points of −60 to 100 have room; more shrinks the scale. */
const LEAST = { below: 50, above: 100 };

const sum = (points, fits) => points.filter(([, worth]) => fits(worth)).reduce((total, [, worth]) => total + Math.abs(worth), 0);

/** All points of a message in one bar: what speaks against it left of the line, what speaks for it right. */
export function scoreBar(points, score) {
  const below = Math.max(LEAST.below, sum(points, (worth) => worth < 0));
  const above = Math.max(LEAST.above, sum(points, (worth) => worth > 0));
  const whole = below + above;
  const bar = h("div", { class: "scorebar", role: "img", "aria-label": describe(points, score), "data-testid": "scorebar" });
  bar.style.setProperty("--zero", `${(below / whole) * 100}%`);
  let left = below;
  let right = below;
  for (const [id, worth] of points) {
    const segment = h("i", { class: worth < 0 ? "against" : "for", title: `${rule(id)} ${signed(worth)}`, "data-rule": id });
    if (worth < 0) left += worth;
    segment.style.setProperty("--from", `${((worth < 0 ? left : right) / whole) * 100}%`);
    segment.style.setProperty("--length", `${(Math.abs(worth) / whole) * 100}%`);
    if (worth > 0) right += worth;
    bar.append(segment);
  }
  if (score !== null && score !== undefined) {
    const total = h("b", { class: "total" });
    total.style.setProperty("--from", `${((below + score) / whole) * 100}%`);
    bar.append(total);
  }
  return bar;
}

function describe(points, score) {
  const given = points.map(([id, worth]) => `${rule(id)} ${signed(worth)}`).join(", ");
  return `${score === null || score === undefined ? t("page-no-score") : t("page-score-of", { score })}${given ? `: ${given}` : ""}`;
}

/** The same as words, each rule with its number. */
export function scoreChips(points) {
  return h("ul", { class: "chips" }, points.map(([id, worth]) =>
    h("li", { class: worth < 0 ? "against" : "for" }, `${rule(id)} `, h("b", {}, signed(worth)))));
}

/** What changed the odds that somebody joins, and by how much: up to the right of the line, down to its left. */
export function oddsRows(reasons) {
  const most = Math.max(Math.log(2), ...reasons.map(([, factor]) => Math.abs(Math.log(factor))));
  return h("ul", { class: "odds", "data-testid": "odds" }, reasons.map(([id, factor]) => {
    const width = (50 * Math.abs(Math.log(factor))) / most;
    const bar = h("i", {});
    bar.style.setProperty("width", `${width}%`);
    bar.style.setProperty("left", `${factor < 1 ? 50 - width : 50}%`);
    return h("li", { class: factor < 1 ? "against" : "for" }, h("span", {}, t(`because-${id}`)), h("span", { class: "track", "aria-hidden": "true" }, bar), h("b", {}, `×${factor.toFixed(2)}`));
  }));
}

/** One row a rule, each beginning where the one before ended. */
export function waterfall(points, score) {
  let total = 0;
  const ends = points.map(([, worth]) => (total += worth));
  const low = Math.min(0, ...ends);
  const high = Math.max(20, score ?? 0, ...ends);
  const at = (value) => `${((value - low) / (high - low)) * 100}%`;
  const row = (label, from, to, kind, number) => {
    const bar = h("i", { class: kind });
    bar.style.setProperty("--from", at(Math.min(from, to)));
    bar.style.setProperty("--length", `${(Math.abs(to - from) / (high - low)) * 100}%`);
    const track = h("span", { class: "track" }, bar);
    track.style.setProperty("--zero", at(0));
    return h("li", { class: kind }, h("span", { class: "label" }, label), track, h("b", {}, number));
  };
  let before = 0;
  const rows = points.map(([id, worth]) => {
    const from = before;
    before += worth;
    return row(rule(id), from, before, worth < 0 ? "against" : "for", signed(worth));
  });
  if (score !== null && score !== undefined) rows.push(row(t("page-score"), 0, score, "sum", String(score)));
  return h("ul", { class: "waterfall", "data-testid": "waterfall" }, rows);
}

const RADIUS = 15;
const AROUND = 2 * Math.PI * RADIUS;

/** A ring that empties from `since` to `due`; without an end it turns. */
export function ring(doing) {
  const hand = svg("circle", { class: "hand", cx: 18, cy: 18, r: RADIUS, "stroke-dasharray": AROUND });
  const drawing = svg("svg", { viewBox: "0 0 36 36", class: `ring ${doing}`, "aria-hidden": "true" }, svg("circle", { class: "rest", cx: 18, cy: 18, r: RADIUS }), hand);
  drawing.turn = (share) => {
    drawing.classList.toggle("endless", share === null);
    hand.style.setProperty("stroke-dashoffset", share === null ? AROUND * 0.7 : AROUND * (1 - share));
  };
  return drawing;
}

/** Who spoke how often, the bot's part standing out. */
export function floorBars(shares) {
  const all = shares.reduce((total, share) => total + share.messages, 0);
  const percent = (share) => Math.round((share.messages / all) * 100);
  const said = (share) => t("page-share", { name: share.name, n: share.messages, all, percent: percent(share) });
  const colour = (element, share) => {
    element.classList.toggle("me", share.voice === "Me");
    element.style.setProperty("--hue", hue(share.name));
    element.style.setProperty("--length", `${(share.messages / all) * 100}%`);
    return element;
  };
  return h("div", { class: "floor" },
    h("div", { class: "floorbar", role: "img", "aria-label": shares.map(said).join("; ") }, shares.map((share) => colour(h("i", { title: said(share) }), share))),
    h("ul", { class: "floorkey" }, shares.slice(0, 6).map((share) =>
      colour(h("li", { "data-testid": "share", "data-name": share.name }, h("span", {}, share.name), h("b", {}, `${percent(share)} %`)), share))));
}

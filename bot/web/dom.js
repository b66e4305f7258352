// The few things every part needs to build the page: elements, icons, times, money, a person's colour.
// Other people's words become text nodes here and nothing else.

import { t } from "./messages.js";

/** An element. Functions are listeners, `true` is an empty attribute, null and false leave it out. */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

const SVG = "http://www.w3.org/2000/svg";

export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

const ICONS = {
  reply: "M9 14 4 9l5-5M4 9h9a7 7 0 0 1 7 7v3",
  thread: "M21 12a8 8 0 0 1-8 8H4l2.2-2.9A8 8 0 1 1 21 12ZM9 10h8M9 14h5",
  react: "M12 21a9 9 0 1 1 6.4-15.3M8.5 14.5a4.5 4.5 0 0 0 7 0M9 9.5h.01M15 9.5h.01M19 2v6M16 5h6",
  edit: "M4 20h4L19 9l-4-4L4 16v4ZM13 7l4 4",
  delete: "M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13M10.5 11v5M13.5 11v5",
  play: "M8 5.5v13l10.5-6.5L8 5.5Z",
  plus: "M12 5v14M5 12h14",
  close: "M6 6l12 12M18 6 6 18",
  send: "M5 12 20 4l-4 16-4.5-6.5L5 12ZM11.5 13.5 20 4",
  menu: "M4 7h16M4 12h16M4 17h16",
  sun: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8ZM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.4 1.4M17.6 17.6 19 19M19 5l-1.4 1.4M6.4 17.6 5 19",
  moon: "M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5Z",
  keyboard: "M3 7h18v10H3V7ZM7 10.5h.01M11 10.5h.01M15 10.5h.01M8 14h8",
  muted: "M4 10v4h4l5 4V6L8 10H4ZM17 9.5l4 5M21 9.5l-4 5",
  clock: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18ZM12 7.5V12l3 2",
};

export function icon(name) {
  return svg("svg", { viewBox: "0 0 24 24", class: "icon", "aria-hidden": "true" }, svg("path", { d: ICONS[name] }));
}

/** A button that shows an icon and says what it does. */
export function tool(name, label, action, testid) {
  return h("button", { type: "button", class: "tool", "aria-label": label, title: label, click: action, "data-testid": testid }, icon(name));
}

const locale = () => t("language-tag");

export const clock = (ms) => new Date(ms).toLocaleTimeString(locale(), { hour: "2-digit", minute: "2-digit" });
export const clockSeconds = (ms) => new Date(ms).toLocaleTimeString(locale(), { hour: "2-digit", minute: "2-digit", second: "2-digit" });
export const day = (ms) => new Date(ms).toLocaleDateString(locale(), { weekday: "long", day: "numeric", month: "long" });
export const fullTime = (ms) => new Date(ms).toLocaleString(locale(), { dateStyle: "medium", timeStyle: "medium" });

/** "8 s", "3 min", "2 h 5 min". */
export function span(ms) {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 90) return t("span-seconds", { seconds });
  const minutes = Math.round(seconds / 60);
  if (minutes < 90) return t("span-minutes", { minutes });
  return t("span-hours-minutes", { hours: Math.floor(minutes / 60), minutes: minutes % 60 });
}

/** Millionths of a dollar as dollars. */
export function dollars(micros) {
  if (!micros) return "$0";
  if (micros < 100) return "<$0.0001";
  return micros < 1_000_000 ? `$${(micros / 1e6).toFixed(4)}` : `$${(micros / 1e6).toFixed(2)}`;
}

export const signed = (points) => (points > 0 ? `+${points}` : `−${Math.abs(points)}`);

/** Far from each other and from the bot's blue. */
const HUES = [152, 28, 318, 186, 50, 276, 4, 96, 296, 170, 72, 340];
const hues = new Map();

/** The same person has the same colour everywhere, and those who meet have different ones. */
export function hue(name) {
  if (!hues.has(name)) hues.set(name, HUES[hues.size % HUES.length]);
  return hues.get(name);
}

export function avatar(name, voice) {
  if (voice === "Me") return h("img", { class: "avatar me", src: "icon.svg", alt: "" });
  const face = h("span", { class: "avatar", "aria-hidden": "true" }, [...name][0]?.toUpperCase() ?? "?");
  face.style.setProperty("--hue", hue(name));
  return face;
}

export function excerpt(text, length = 60) {
  const line = text.replace(/\s+/g, " ").trim();
  const characters = [...line];
  return characters.length > length ? `${characters.slice(0, length - 1).join("")}…` : line;
}

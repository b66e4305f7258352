// Every text of the page. The server sends the messages of a language as data, from the same files that its own sentences
// come from; here they are put into words.

const DEFAULT = "en";

let known = [];
let messages = {};
let spoken = DEFAULT;
let numbers = new Intl.NumberFormat(DEFAULT);
let plurals = new Intl.PluralRules(DEFAULT);

const stored = () => { try { return localStorage.getItem("language"); } catch { return null; } };

async function load(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}

/** Hears which languages there are, and gets the one that is spoken here. */
export async function listen() {
  known = await load("locales.json");
  const wanted = [stored(), ...(navigator.languages ?? [navigator.language])].map((tag) => tag?.split("-")[0]);
  await use(wanted.find(isKnown) ?? DEFAULT);
}

const isKnown = (id) => known.some((language) => language.id === id);

async function use(id) {
  messages = await load(`locales/${id}.json`);
  spoken = id;
  numbers = new Intl.NumberFormat(messages["language-tag"]);
  plurals = new Intl.PluralRules(messages["language-tag"]);
}

export const language = () => spoken;
/** Each with its id, its name, whether there is a sample in it, and what a button says that leads to it. */
export const languages = () => known;
export const nextLanguage = () => known[(known.findIndex(({ id }) => id === spoken) + 1) % known.length].id;

export async function speak(wanted) {
  await use(isKnown(wanted) ? wanted : DEFAULT);
  try { localStorage.setItem("language", spoken); } catch { /* it holds for this visit */ }
}

/** The message with its gaps filled. `quote` shows another message of the room. */
export function t(key, values = {}, quote = (id) => id) {
  const pattern = messages[key];
  return pattern === undefined ? key : evaluate(pattern, values, quote);
}

/** A pattern is a text, or a list of texts, arguments and choices. */
function evaluate(pattern, values, quote) {
  if (typeof pattern === "string") return pattern;
  return pattern.map((part) => {
    if (typeof part === "string") return part;
    return part.of === undefined ? evaluate(chosen(part, values[part.by]), values, quote) : show(values[part.of], quote);
  }).join("");
}

/** The variant of this very value, else that of its plural form, else the usual one. */
function chosen({ variants, usual }, value) {
  const form = typeof value === "number" ? plurals.select(value) : null;
  const variant = variants.find(([key]) => key === value) ?? variants.find(([key]) => key === form) ?? variants[usual];
  return variant[1];
}

function show(value, quote) {
  if (typeof value === "number") return numbers.format(value);
  if (value === null || typeof value !== "object") return value ?? "";
  if (value.span !== undefined) return duration(value.span);
  if (value.percent !== undefined) return t("percent", { n: value.percent });
  if (value.message !== undefined) return quote(value.message);
  if (value.said !== undefined) return say(value.said, quote);
  return value.list.map((message) => say(message, quote)).join(t("list-separator"));
}

/** What the server sends as a key and its arguments. */
export const say = ([key, values], quote) => t(key, values, quote);

/** What a message begins with: an argument, or null where it is text of its own. */
export function beginning([key, values]) {
  const [first] = messages[key] ?? [];
  return first?.of === undefined ? null : values[first.of];
}

/** As the server says it: "45 s", "1 min 30 s", "10 min", "2 h 5 min". */
function duration(ms) {
  const seconds = Math.floor(ms / 1000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  if (hours) return minutes ? t("span-hours-minutes", { hours, minutes }) : t("span-hours", { hours });
  if (!minutes) return t("span-seconds", { seconds });
  const exact = seconds % 60 === 0 || minutes >= 10;
  return exact ? t("span-minutes", { minutes }) : t("span-minutes-seconds", { minutes, seconds: seconds % 60 });
}

const named = (key, id) => (key in messages ? t(key) : id.replaceAll("_", " "));
export const rule = (id) => named(`rule-${id}`, id);
export const gate = (id) => named(`gate-${id}`, id);

/** Fills everything in the page that names its text. */
export function fillIn(root = document) {
  document.documentElement.lang = spoken;
  const label = (element, text) => { element.setAttribute("aria-label", text); element.title = text; };
  for (const element of root.querySelectorAll("[data-t]")) element.textContent = t(element.dataset.t);
  for (const element of root.querySelectorAll("[data-t-label]")) label(element, t(element.dataset.tLabel));
  const next = known.find(({ id }) => id === nextLanguage());
  for (const element of root.querySelectorAll("[data-switch]")) label(element, next.switch);
}

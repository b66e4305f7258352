// Why it did what it did, in the language of the page, with messages instead of their ids.

import { excerpt } from "./dom.js";
import { beginning, say, t } from "./messages.js";

/** The reason in words: without what it did and the points, which are shown beside it. */
export function reason(trace, room) {
  const quote = (id) => quoted(id, room);
  return (trace.why ?? []).map((message) => sentence(message, say(message, quote))).join(" ");
}

/** By itself it begins with a capital, unless it begins with somebody's name. */
function sentence(message, words) {
  const first = beginning(message);
  const isName = typeof first === "string" || first?.message !== undefined;
  return isName ? words : words.charAt(0).toUpperCase() + words.slice(1);
}

function quoted(id, room) {
  const message = room.messages.get(id);
  if (!message || message.deleted) return t("page-missing");
  return t("page-quoted", { author: message.author, words: excerpt(message.text, 24) });
}

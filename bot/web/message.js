// One message as it stands in the talk: its head, words, reactions, the way into its thread, and the mark of what was decided.

import { avatar, clock, excerpt, fullTime, h, tool } from "./dom.js";
import { t } from "./messages.js";

const EMOJI = ["👍", "❤️", "😄", "🎉", "🤔", "👀", "🙏", "✨"];

/** `acts` is what can be done with it; `own` whether it was written here. */
export function messageLine(message, { room, own, me, bot, acts, inThread }) {
  return h("div", { class: "line" },
    avatar(message.author, message.voice),
    h("div", { class: "said" },
      head(message),
      message.reply_to ? quote(message, room, acts) : null,
      h("div", { class: "text", "data-testid": "text" }, message.deleted ? h("em", {}, t("page-deleted")) : words(message.text, bot)),
      reactions(message, me, acts),
      inThread ? null : threadLink(message, room, acts)),
    mark(message, room, acts),
    message.deleted ? null : tools(message, own, inThread, acts));
}

function head(message) {
  return h("div", { class: "head" },
    h("b", { class: "author", "data-testid": "author" }, message.author),
    message.voice === "Person" ? null : h("span", { class: "badge" }, t("page-bot-badge")),
    h("time", { datetime: new Date(message.at).toISOString(), title: fullTime(message.at) }, clock(message.at)),
    message.edited && !message.deleted ? h("span", { class: "edited", "data-testid": "edited" }, t("page-edited")) : null);
}

const LINK_OR_NAME = /(https?:\/\/[^\s<>"]+)|(@[\p{L}\p{N}_.-]+)/gu;

/** Text with its links and mentions; nothing in it is ever markup. */
function words(text, bot) {
  const parts = [];
  let end = 0;
  for (const found of text.matchAll(LINK_OR_NAME)) {
    parts.push(text.slice(end, found.index));
    const [whole, link, name] = found;
    if (link) parts.push(h("a", { href: link, rel: "noopener noreferrer", target: "_blank" }, link));
    else parts.push(h("span", { class: name.slice(1).toLowerCase() === bot.toLowerCase() ? "mention me" : "mention" }, name));
    end = found.index + whole.length;
  }
  return [...parts, text.slice(end)];
}

function quote(message, room, acts) {
  const source = room.messages.get(message.reply_to);
  const said = source ? (source.deleted ? t("page-deleted-message") : excerpt(source.text, 80)) : t("page-missing");
  return h("button", { type: "button", class: "quote", tabindex: -1, "data-testid": "quote", click: () => acts.goTo(message.reply_to) },
    source ? h("b", {}, source.author) : null, h("span", {}, said));
}

function reactions(message, me, acts) {
  if (!message.reactions?.length) return null;
  return h("div", { class: "reactions" }, message.reactions.filter(([, names]) => names.length).map(([emoji, names]) => {
    const mine = names.includes(me);
    return h("button", {
      type: "button", class: "reaction", tabindex: -1, "aria-pressed": String(mine), title: names.join(", "), "aria-label": `${emoji} ${names.join(", ")}`,
      "data-testid": "reaction", "data-emoji": emoji, click: () => acts.react(message, emoji, !mine),
    }, h("span", {}, emoji), h("b", {}, String(names.length)));
  }));
}

function threadLink(message, room, acts) {
  const replies = room.replies(message.id);
  if (!replies.length) return null;
  const faces = [...new Map(replies.map((reply) => [reply.author, reply])).values()].slice(0, 3);
  return h("button", { type: "button", class: "threadlink", tabindex: -1, "data-testid": "threadlink", click: () => acts.thread(message) },
    faces.map((reply) => avatar(reply.author, reply.voice)), h("b", {}, t("page-replies", { n: replies.length })), h("span", {}, clock(replies.at(-1).at)));
}

/** Small on purpose: the talk comes first. */
function mark(message, room, acts) {
  const outcome = message.voice === "Me" ? null : room.markOf(message.id);
  if (!outcome) return null;
  const label = t("page-see-why", { outcome: t(`outcome-${outcome}`) });
  return h("button", {
    type: "button", class: `mark ${outcome}`, tabindex: -1, title: label, "aria-label": label,
    "data-testid": "mark", "data-outcome": outcome, click: () => acts.story(message.id),
  }, h("i", {}));
}

function tools(message, own, inThread, acts) {
  return h("div", { class: "tools", role: "toolbar", "aria-label": excerpt(message.text, 30) },
    tool("react", t("page-react"), (event) => picker(event.currentTarget, message, acts), "react"),
    tool("reply", t("page-reply"), () => acts.reply(message), "reply"),
    inThread ? null : tool("thread", t("page-thread"), () => acts.thread(message), "thread"),
    own ? tool("edit", t("page-edit"), () => acts.edit(message), "edit") : null,
    own ? tool("delete", t("page-delete"), () => acts.remove(message), "delete") : null);
}

/** A handful of emoji beside the button; anything else closes it. */
export function picker(beside, message, acts) {
  document.querySelector(".picker")?.remove();
  const choose = (emoji) => {
    close();
    acts.react(message, emoji, true);
  };
  const box = h("div", { class: "picker", role: "menu", "aria-label": t("page-react"), "data-testid": "picker" }, EMOJI.map((emoji) =>
    h("button", { type: "button", role: "menuitem", "data-testid": "pick", "data-emoji": emoji, "aria-label": emoji, click: () => choose(emoji) }, emoji)));
  const outside = (event) => box.contains(event.target) || close();
  const close = () => {
    box.remove();
    document.removeEventListener("pointerdown", outside);
  };
  box.addEventListener("keydown", (event) => {
    const buttons = [...box.children];
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (event.key === "Escape") {
      // The message may have been drawn again since.
      const item = box.closest("[data-id]");
      close();
      item?.focus();
    } else if (step) buttons.at((buttons.indexOf(document.activeElement) + step) % buttons.length).focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  beside.closest(".line").append(box);
  box.firstChild.focus();
  setTimeout(() => document.addEventListener("pointerdown", outside));
}

/** Keeps the choice of emoji open when the message is drawn again. */
export function keepPicker(before, line) {
  const box = before.querySelector(":scope > .picker");
  if (!box) return;
  const focused = box.contains(document.activeElement) ? document.activeElement : null;
  line.append(box);
  focused?.focus();
}

/** The words of one's own message, to be changed. */
export function editor(message, { save, cancel }) {
  const field = h("textarea", { class: "editfield", rows: 2, "aria-label": t("page-edit"), "data-testid": "edit-field" });
  field.value = message.text;
  field.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.isComposing || event.keyCode === 229) return;
    if (event.key === "Escape") cancel();
    else if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      save(field.value.trim());
    }
  });
  return h("div", { class: "editor" }, field,
    h("div", { class: "row" },
      h("button", { type: "button", class: "primary", "data-testid": "edit-save", click: () => save(field.value.trim()) }, t("page-save")),
      h("button", { type: "button", click: cancel }, t("page-cancel"))));
}

// Questions to the person at the page: their name, the name of a room, whether to delete; and the list of shortcuts.

import { h } from "./dom.js";
import { t } from "./messages.js";

/** Opens a dialog and gives what was entered, or null. Without a field it gives "yes". */
export function ask({ title, note, label, value = "", confirm, must = false, testid }) {
  return new Promise((answer) => {
    const field = label ? h("input", { name: "answer", value, maxlength: 40, autocomplete: "off", "aria-label": label, "data-testid": `${testid}-field` }) : null;
    const dialog = h("dialog", { "data-testid": testid, "aria-labelledby": "question" },
      h("form", { method: "dialog" },
        h("h2", { id: "question" }, title), note ? h("p", {}, note) : null, field,
        h("div", { class: "row" },
          must ? null : h("button", { type: "button", value: "", click: () => dialog.close("") }, t("page-cancel")),
          h("button", { type: "submit", class: "primary", value: "yes", "data-testid": `${testid}-confirm` }, confirm))));
    dialog.querySelector("form").addEventListener("submit", (event) => {
      if (field && !field.value.trim()) event.preventDefault();
    });
    if (must) dialog.addEventListener("cancel", (event) => event.preventDefault());
    dialog.addEventListener("close", () => {
      dialog.remove();
      answer(dialog.returnValue === "yes" ? (field ? field.value.trim() : "yes") : null);
    });
    document.body.append(dialog);
    dialog.showModal();
    field?.select();
  });
}

const KEYS = [
  [["Enter"], "send"], [["Shift", "Enter"], "break"], [["↑"], [["↓"]], "messages"], [["Enter"], "story"], [["r"], ["t"], ["+"], "reply"],
  [["e"], ["Delete"], "change"], [["i"], "field"], [["Esc"], "escape"], [["?"], "help"],
];

export function showShortcuts() {
  const keys = (combinations) => combinations.flat().map((combination) => (Array.isArray(combination) ? combination : [combination]).map((key) => h("kbd", {}, key)));
  const rows = KEYS.map((row) => [h("dt", {}, keys(row.slice(0, -1))), h("dd", {}, t(`page-key-${row.at(-1)}`))]);
  const dialog = h("dialog", { class: "shortcuts", "data-testid": "shortcuts", "aria-labelledby": "keys" },
    h("form", { method: "dialog" }, h("h2", { id: "keys" }, t("page-shortcuts")), h("dl", {}, rows), h("div", { class: "row" }, h("button", { class: "primary" }, t("page-dismiss")))));
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

export function friendlyName() {
  const names = t("page-friendly-names").split(" ");
  return names[Math.floor(Math.random() * names.length)];
}

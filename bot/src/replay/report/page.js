"use strict";
// Everything can be read without this: it moves hints to where they do not flicker, and filters the moments.
for (const chart of document.querySelectorAll(".chart")) {
  const output = chart.querySelector("output");
  for (const column of chart.querySelectorAll(".hints rect")) {
    const title = column.firstElementChild;
    const text = title.textContent;
    title.remove();
    column.addEventListener("pointerenter", () => { output.textContent = text; });
  }
  chart.querySelector(".hints").addEventListener("pointerleave", () => { output.textContent = ""; });
}
const filter = document.querySelector(".filter");
if (filter) {
  const moments = [...document.querySelectorAll("#moments .moment")];
  const buttons = [...filter.querySelectorAll("button")];
  const search = filter.querySelector("input");
  let outcome = "";
  const apply = () => {
    const words = search.value.toLowerCase();
    let shown = 0;
    for (const moment of moments) {
      const fits = (!outcome || moment.dataset.outcome === outcome) && moment.textContent.toLowerCase().includes(words);
      moment.hidden = !fits;
      shown += fits;
    }
    for (const button of buttons) button.setAttribute("aria-pressed", button.dataset.outcome === outcome);
    filter.querySelector("output").textContent = shown === moments.length ? "" : filter.dataset.shown.replace("{shown}", shown).replace("{all}", moments.length);
  };
  for (const button of buttons) button.addEventListener("click", () => { outcome = button.dataset.outcome; apply(); });
  search.addEventListener("input", apply);
  filter.addEventListener("submit", (event) => event.preventDefault());
  filter.hidden = false;
}

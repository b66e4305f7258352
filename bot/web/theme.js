// Light or dark: as the system has it, until somebody chooses.

import { icon } from "./dom.js";

const root = document.documentElement;
const system = matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);

/** Makes this button the switch between the two. */
export function followTheme(button) {
  const chosen = stored();
  if (chosen) root.dataset.theme = chosen;
  const draw = () => button.replaceChildren(icon(isDark() ? "sun" : "moon"));
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    try { localStorage.setItem("theme", root.dataset.theme); } catch { /* it holds for this visit */ }
    draw();
  });
  system.addEventListener("change", draw);
  draw();
}

function stored() {
  try { return localStorage.getItem("theme"); } catch { return null; }
}

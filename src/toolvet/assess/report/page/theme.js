"use strict";
// The colour switch. Everything can be read without it.
(() => {
  const root = document.documentElement;
  const button = document.getElementById("theme");

  // Colours: as the system, light, dark. A file opened from disk may have no storage.
  const themes = ["", "light", "dark"];
  const words = { "": "as the system", light: "light", dark: "dark" };
  const show = (theme) => {
    if (theme) root.dataset.theme = theme; else delete root.dataset.theme;
    button.setAttribute("aria-label", `Colours: ${words[theme]}. Change.`);
    button.title = `Colours: ${words[theme]}`;
  };
  let theme = "";
  try { theme = localStorage.getItem("toolvet-theme") || ""; } catch { /* none */ }
  show(themes.includes(theme) ? theme : "");
  button.hidden = false;
  button.addEventListener("click", () => {
    theme = themes[(themes.indexOf(root.dataset.theme || "") + 1) % themes.length];
    show(theme);
    try { localStorage.setItem("toolvet-theme", theme); } catch { /* none */ }
  });
})();

"use strict";
// Keys, the colour switch, and the token that forms need. Every page can be read without them.
(() => {
  const root = document.documentElement;
  const button = document.getElementById("theme");
  const themes = ["", "light", "dark"];
  const words = { "": "as the system", light: "light", dark: "dark" };
  const name = () => {
    const theme = root.dataset.theme || "";
    button.setAttribute("aria-label", `Colours: ${words[theme]}. Change.`);
    button.title = `Colours: ${words[theme]}`;
  };
  name();
  button.hidden = false;
  button.addEventListener("click", () => {
    const theme = themes[(themes.indexOf(root.dataset.theme || "") + 1) % themes.length];
    if (theme) root.dataset.theme = theme; else delete root.dataset.theme;
    name();
    try { localStorage.setItem("toolvet-theme", theme); } catch { /* no storage */ }
    document.dispatchEvent(new Event("toolvet:theme"));
  });

  // Whatever changes something carries the token of this session.
  document.addEventListener("htmx:config:request", (event) => {
    const { request } = event.detail.ctx;
    request.headers["X-CSRF-Token"] = document.querySelector('meta[name="csrf"]').content;
  });

  const typing = (target) => target.closest("input, textarea, select, [contenteditable]");
  const places = { o: "/", q: "/queue", t: "/tools", a: "/assessments" };
  let went = 0;
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
    if (event.key === "/") {
      event.preventDefault();
      document.querySelector(".find input").focus();
    } else if (event.key === "?") {
      document.getElementById("keys").showModal();
    } else if (event.key === "g") {
      went = event.timeStamp;
    } else if (places[event.key] && event.timeStamp - went < 1500) {
      location.href = places[event.key];
    }
  });
})();

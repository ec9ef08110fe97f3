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

  // Times in the reader's own time zone.
  const zoned = new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeStyle: "medium" });
  const showTimes = (within) => within.querySelectorAll("time[datetime]").forEach((each) => {
    const moment = new Date(each.dateTime);
    if (Number.isNaN(moment.getTime())) return;
    each.textContent = zoned.format(moment);
    each.title = each.dateTime;
  });
  showTimes(document);
  document.addEventListener("toolvet:renewed", (event) => showTimes(event.target));

  // A form that filters leaves out of the URL what is empty.
  document.addEventListener("submit", (event) => {
    if (!event.target.matches("[data-tidy]")) return;
    for (const field of event.target.elements) if (field.name && !field.value) field.disabled = true;
  });
  addEventListener("pageshow", () => document.querySelectorAll("[data-tidy] :disabled").forEach((each) => { each.disabled = false; }));

  // A finding and its evidence point at each other.
  document.addEventListener("pointerover", (event) => point(event.target));
  document.addEventListener("focusin", (event) => point(event.target));
  const point = (target) => {
    const one = target.closest && target.closest("[data-finding], mark[data-findings]");
    const numbers = one ? (one.dataset.finding || one.dataset.findings).split(" ") : [];
    document.querySelectorAll(".pointed").forEach((each) => each.classList.remove("pointed"));
    for (const number of numbers) {
      document.querySelectorAll(`[data-finding="${number}"], mark[data-findings~="${number}"]`).forEach((each) => each.classList.add("pointed"));
    }
  };

  // On a phone the menu is wider than the window.
  const current = document.querySelector(".top nav [aria-current]");
  if (current) current.parentElement.scrollLeft = current.offsetLeft - (innerWidth - current.offsetWidth) / 2;

  const typing = (target) => target.closest("input, textarea, select, [contenteditable]");
  const places = { o: "/", q: "/queue", v: "/verdicts", t: "/tools", s: "/servers", a: "/assessments", c: "/compare", e: "/events" };
  const move = (step) => {
    const rows = Array.from(document.querySelectorAll("[data-row]")).filter((row) => row.offsetParent);
    if (!rows.length) return;
    const here = rows.findIndex((row) => row.contains(document.activeElement));
    const next = rows[Math.min(Math.max(here + step, 0), rows.length - 1)];
    // A row of a table gives the focus to its link, so that Enter opens it.
    const target = next.hasAttribute("tabindex") ? next : next.querySelector("th a, a") || next;
    target.focus({ preventScroll: true });
    next.scrollIntoView({ block: "nearest" });
  };
  const moves = { j: 1, k: -1 };
  const sheet = document.getElementById("keys");
  const filters = document.querySelector("details.filters");
  const help = document.getElementById("help");
  help.hidden = false;
  help.addEventListener("click", () => sheet.showModal());
  let went = -Infinity;
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !event.target.closest) return;
    if (event.key === "Escape" && event.target.matches(".find input")) event.target.blur();
    if (typing(event.target) || sheet.open) return;
    if (event.timeStamp - went < 1500) {
      went = -Infinity;
      // No page's own key counts now: on an item of the queue, s alone skips it.
      if (places[event.key]) { event.stopImmediatePropagation(); location.href = places[event.key]; return; }
    }
    if (event.key === "/") {
      event.preventDefault();
      document.querySelector(".find input").focus();
    } else if (event.key === "?") {
      sheet.showModal();
    } else if (event.key === "f" && filters) {
      event.preventDefault();
      filters.open = true;
      filters.querySelector("input, select").focus();
    } else if (event.key === "g") {
      went = event.timeStamp;
    } else if (moves[event.key] && document.querySelector("[data-row]") && !document.querySelector("[data-own-keys]")) {
      event.preventDefault();
      move(moves[event.key]);
    } else if (event.key === "Enter" && event.target.matches("[data-row]")) {
      const link = event.target.querySelector("h2 a, th a");
      if (link) location.href = link.href;
    } else if (event.key === "n" || event.key === "p") {
      const link = document.querySelector(event.key === "n" ? "a[rel=next]" : "a[rel=prev]");
      if (link) location.href = link.href;
    }
  });
})();

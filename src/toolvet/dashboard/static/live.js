"use strict";
// Live without reloading: when the store has something new, the parts marked data-live and the charts are loaded anew.
(() => {
  const parts = () => document.querySelectorAll("[data-live], [data-chart]");
  if (!parts().length || !window.EventSource) return;
  const wait = 1000;
  let running = false;
  let again = false;

  // What a reader opened stays open, and what has the focus is left alone.
  const renew = (old, now) => {
    if (old.innerHTML === now.innerHTML) return;
    const focus = old.contains(document.activeElement) ? document.activeElement : null;
    const mark = focus && (focus.id || focus.getAttribute("href"));
    const open = Array.from(old.querySelectorAll("details"), (each) => each.open);
    old.innerHTML = now.innerHTML;
    old.querySelectorAll("details").forEach((each, place) => { if (open[place]) each.open = true; });
    if (mark) {
      const same = Array.from(old.querySelectorAll("a, [id]")).find((each) => each.id === mark || each.getAttribute("href") === mark);
      if (same) same.focus({ preventScroll: true });
    }
    old.dispatchEvent(new Event("toolvet:renewed", { bubbles: true }));
  };
  const renewChart = (old, now) => {
    const [before, after] = [old.querySelector("script"), now.querySelector("script")];
    if (before.textContent === after.textContent) return;
    before.textContent = after.textContent;
    old.querySelector(".plot").setAttribute("aria-label", now.querySelector(".plot").getAttribute("aria-label"));
    old.querySelector("details table").innerHTML = now.querySelector("details table").innerHTML;
    old.dispatchEvent(new Event("toolvet:chart", { bubbles: true }));
    old.dispatchEvent(new Event("toolvet:renewed", { bubbles: true }));
  };

  const refresh = async () => {
    if (running || document.hidden) { again = true; return; }
    running = true;
    again = false;
    try {
      const answer = await fetch(location.href, { headers: { accept: "text/html" } });
      if (answer.ok && !answer.redirected) {
        const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
        for (const old of parts()) {
          const now = fresh.getElementById(old.id);
          // Another sort of page, as when the first verdict came.
          if (!now) { location.reload(); return; }
          if ("chart" in old.dataset) renewChart(old, now); else renew(old, now);
        }
      }
    } catch { /* The server is away: the stream begins anew when it is back. */ }
    // Many verdicts a second need no more than one look.
    setTimeout(() => { running = false; if (again) refresh(); }, wait);
  };

  const stream = new EventSource("/live");
  stream.addEventListener("changed", refresh);
  document.addEventListener("visibilitychange", () => { if (!document.hidden && again) refresh(); });
  // A browser opens only six connections to a server: a page that is left must not keep one.
  addEventListener("pagehide", () => stream.close());
  addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
})();

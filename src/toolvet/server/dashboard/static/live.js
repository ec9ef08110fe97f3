"use strict";
// Live without reloading: when the store has something new, the parts marked data-live and the charts are loaded again.
// When the store or the server is away, the page says so and since when, and goes on by itself when it is back.
(() => {
  if (!window.EventSource) return;
  const parts = () => document.querySelectorAll("[data-live], [data-chart]");
  const wait = 1000;
  const pause = 5000;
  const banner = document.getElementById("state");

  // The page of a store that cannot be read: look again, and show what was asked for as soon as it is there.
  if (document.getElementById("outage")) {
    setInterval(async () => {
      if (document.hidden) return;
      try {
        const answer = await fetch(location.href, { headers: { accept: "text/html" } });
        // Not a reload: that would send a form once more.
        if (answer.status !== 503) location.replace(location.href);
      } catch { /* The server is away as well. */ }
    }, pause);
    return;
  }
  if (!parts().length) return;

  // How far the store was when this page was made.
  const mark = (within) => within.querySelector('meta[name="seen"]').content;
  let seen = mark(document);
  const clock = new Intl.DateTimeFormat("sv-SE", { timeStyle: "short" });
  let isAway = false;
  const say = (words) => {
    if (isAway) return;
    isAway = true;
    banner.textContent = `${words} What you see is from before ${clock.format(new Date())}; it goes on by itself.`;
    banner.hidden = false;
  };
  const isBack = () => {
    isAway = false;
    banner.hidden = true;
  };

  // What a reader opened stays open, and what has the focus is left alone.
  const renew = (old, now) => {
    if (old.innerHTML === now.innerHTML) return;
    const focus = old.contains(document.activeElement) ? document.activeElement : null;
    const place = focus && (focus.id || focus.getAttribute("href"));
    const open = Array.from(old.querySelectorAll("details"), (each) => each.open);
    old.innerHTML = now.innerHTML;
    old.querySelectorAll("details").forEach((each, number) => { if (open[number]) each.open = true; });
    if (place) {
      const same = Array.from(old.querySelectorAll("a, [id]")).find((each) => each.id === place || each.getAttribute("href") === place);
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

  let running = false;
  let again = false;
  const refresh = async () => {
    if (running || document.hidden) { again = true; return; }
    running = true;
    again = false;
    try {
      const answer = await fetch(location.href, { headers: { accept: "text/html" } });
      if (answer.redirected) {
        // The session has ended: the login page leads back here.
        location.reload();
        return;
      }
      if (answer.status === 503) {
        say("The store cannot be read.");
        again = true;
      } else if (answer.ok) {
        const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
        for (const old of parts()) {
          const now = fresh.getElementById(old.id);
          // Another sort of page, as when the first verdict came.
          if (!now) { location.reload(); return; }
          if ("chart" in old.dataset) renewChart(old, now); else renew(old, now);
        }
        seen = mark(fresh);
        isBack();
      }
    } catch { /* The server is away: the stream says so, and when it is back. */ }
    // Many verdicts a second need no more than one look.
    setTimeout(() => { running = false; if (again) refresh(); }, isAway ? pause : wait);
  };

  let stream = null;
  const listen = () => {
    stream = new EventSource("/live");
    stream.addEventListener("changed", (event) => {
      document.documentElement.dataset.listens = "";
      if (isAway || event.data !== seen) refresh();
    });
    stream.addEventListener("lost", () => say("The store cannot be read."));
    // Something may have come before the page listened.
    stream.addEventListener("open", () => { if (isAway) refresh(); });
    stream.addEventListener("error", () => {
      if (stream.readyState !== EventSource.CLOSED) { say("The server does not answer."); return; }
      // It was refused, and the browser has given up: too many pages listen, or the session has ended.
      setTimeout(() => { listen(); refresh(); }, pause);
    });
  };
  listen();
  document.addEventListener("visibilitychange", () => { if (!document.hidden && again) refresh(); });
  // A browser opens only six connections to a server: a page that is left must not keep one.
  addEventListener("pagehide", () => stream.close());
  addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
})();

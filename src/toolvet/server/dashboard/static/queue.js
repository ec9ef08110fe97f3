"use strict";
// The keys of the review queue. Without this file the same forms work with a mouse, a finger, or Tab.
(() => {
  const signals = [...document.querySelectorAll(".signal")];
  let at = -1;
  let isSent = false;

  // One label for one press: a key that is held down, or a second press, must not label the next item.
  document.querySelectorAll("form").forEach((form) => form.addEventListener("submit", (event) => {
    if (isSent) event.preventDefault();
    isSent = true;
  }));
  addEventListener("pageshow", () => { isSent = false; });

  const marks = (key) => [...document.querySelectorAll("mark[data-signals]")]
    .filter((mark) => mark.dataset.signals.split(" ").includes(key));

  const choose = (index) => {
    if (!signals.length) return;
    at = Math.max(0, Math.min(signals.length - 1, index));
    document.querySelectorAll(".now").forEach((each) => each.classList.remove("now"));
    const signal = signals[at];
    signal.classList.add("now");
    const evidence = marks(signal.dataset.signal);
    evidence.forEach((mark) => mark.classList.add("now"));
    // A long answer scrolls by itself.
    if (evidence.length) evidence[0].scrollIntoView({ block: "nearest" });
    signal.scrollIntoView({ block: "nearest" });
    if (!signal.contains(document.activeElement)) signal.focus({ preventScroll: true });
  };
  signals.forEach((signal, index) => signal.addEventListener("focusin", () => {
    if (at !== index) choose(index);
  }));

  // Words that are selected in the answer are those of the fault that is named.
  const missed = document.querySelector(".missed");
  const quote = () => {
    const words = String(getSelection()).trim();
    const text = document.querySelector("[aria-label='The text that was judged']");
    if (!missed || !words || !text || !text.contains(getSelection().anchorNode)) return;
    const row = [...missed.querySelectorAll(".missed-fault")].at(-1);
    // The numbers of the marks are not words of the answer.
    const range = getSelection().getRangeAt(0).cloneContents();
    range.querySelectorAll("sup").forEach((each) => each.remove());
    row.querySelector("input").value = range.textContent.trim();
  };
  // Who selects words only to copy them names no fault.
  for (const event of ["mouseup", "touchend"]) {
    document.addEventListener(event, () => { if (missed && missed.open) quote(); });
  }

  const press = (element) => {
    if (element.type === "radio") {
      // The same key again takes it back.
      element.checked = !element.checked;
      if (element.checked && at < signals.length - 1) choose(at + 1);
    } else if (element.tagName === "SUMMARY") {
      quote();
      missed.open = true;
      [...missed.querySelectorAll("select")].at(-1).focus();
    } else {
      element.click();
    }
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || document.querySelector("dialog[open]")) return;
    const { target } = event;
    const typing = target.matches("textarea, select, [contenteditable], input:not([type=radio]):not([type=checkbox])");
    if (typing) {
      if (event.key === "Escape") target.blur();
      // Enter in the note would press the first button; a label is a key of its own.
      if (event.key === "Enter" && target.matches("input")) {
        event.preventDefault();
        if (target.name === "assignee") document.querySelector("[value=assign]").click();
        else target.blur();
      }
      return;
    }
    if (event.key === "Enter" && target.matches("a, button, summary")) return;
    if (event.key === "j" || event.key === "k") {
      event.preventDefault();
      choose(at + (event.key === "j" ? 1 : -1));
      return;
    }
    const focus = document.querySelector(`[data-focus="${CSS.escape(event.key)}"]`);
    if (focus) {
      event.preventDefault();
      focus.focus();
      return;
    }
    const here = at >= 0 ? signals[at] : signals[0];
    const found = (here && here.querySelector(`[data-key="${CSS.escape(event.key)}"]`))
      || [...document.querySelectorAll(`[data-key="${CSS.escape(event.key)}"]`)].find((each) => !each.closest(".signal"));
    if (!found || found.disabled) return;
    event.preventDefault();
    if (found.type === "radio" && at < 0) choose(0);
    press(found);
  });
})();

"use strict";
// Filtering and copying. Everything can be read without them.
(() => {
  const all = (selector, from = document) => Array.from(from.querySelectorAll(selector));
  const byId = (id) => document.getElementById(id);

  // A copy button for every command.
  const copy = async (text, source) => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const range = document.createRange();
      range.selectNodeContents(source);
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      document.execCommand("copy");
    }
  };
  for (const pre of all("pre.run:not(.plain)")) {
    const text = pre.textContent;
    const code = document.createElement("span");
    code.textContent = text;
    const action = document.createElement("button");
    action.type = "button";
    action.className = "copy";
    action.textContent = "Copy";
    action.setAttribute("aria-label", "Copy the command");
    action.addEventListener("click", async () => {
      await copy(text, code);
      action.textContent = "Copied";
      setTimeout(() => { action.textContent = "Copy"; }, 1500);
    });
    pre.classList.add("copyable");
    pre.replaceChildren(code, action);
  }

  // A link to something folded unfolds it.
  const reveal = () => {
    const target = location.hash.length > 1 && byId(location.hash.slice(1));
    if (!target) return;
    for (let node = target; node; node = node.parentElement) if (node.tagName === "DETAILS") node.open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  reveal();

  // The filter.
  const form = byId("filter");
  const findings = all(".finding");
  const calls = all(".call");
  const rows = all("tr[data-tool], .skipped > [data-tool]");
  if (findings.length + calls.length + rows.length === 0) return;
  const texts = new Map();
  const textOf = (element) => {
    if (!texts.has(element)) texts.set(element, element.textContent.toLowerCase());
    return texts.get(element);
  };
  const keep = (elements, matches) => {
    let shown = 0;
    for (const element of elements) {
      element.hidden = !matches(element);
      if (!element.hidden) shown += 1;
    }
    return shown;
  };
  const apply = () => {
    const text = byId("text").value.trim().toLowerCase();
    const tool = byId("tool").value;
    const failed = byId("failed").checked;
    const severities = new Set(all("[name=severity]:checked", form).map((box) => box.value));
    const every = severities.size === 3;
    const isOf = (element) => !tool || element.dataset.tool.split(" ").includes(tool);
    const fits = (element) =>
      isOf(element) && (!text || textOf(element).includes(text));
    const groupFits = (group) => text && textOf(group.querySelector("header")).includes(text);
    const shownFindings = keep(findings, (finding) => severities.has(finding.dataset.severity) && (fits(finding) ||
      (isOf(finding) && groupFits(finding.closest("[data-group]")))));
    for (const group of all("[data-group]")) {
      group.hidden = !group.querySelector(".finding:not([hidden])");
      const more = group.querySelector(".more");
      if (!more) continue;
      const hits = more.querySelector(".finding:not([hidden])");
      more.hidden = !hits;
      if (hits && (text || tool)) more.open = true;
    }
    const shownCalls = keep(calls, (call) => fits(call) && (!failed || call.dataset.mark === "fail"));
    for (const details of all(".tool")) {
      const named = !failed && fits(details) && !details.querySelector(".call");
      details.hidden = !details.querySelector(".call:not([hidden])") && !named;
    }
    keep(rows, fits);
    const active = text || tool || failed || !every;
    byId("shown").textContent = active
      ? `Showing ${shownFindings} of ${findings.length} findings and ${shownCalls} of ${calls.length} calls.` : "";
  };
  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("change", apply);
  let waiting = 0;
  byId("text").addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(apply, 120); });
  // A reload keeps what was typed: honour it.
  apply();
})();

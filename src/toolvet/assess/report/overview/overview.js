"use strict";
// Filtering and sorting the ranking. Everything can be read without them.
(() => {
  const table = document.getElementById("servers");
  if (!table) return;
  const body = table.tBodies[0];
  const rows = Array.from(body.rows);

  const form = document.getElementById("filter");
  const text = document.getElementById("text");
  const shown = document.getElementById("shown");
  const filter = () => {
    const wanted = text.value.trim().toLowerCase();
    let count = 0;
    for (const row of rows) {
      row.hidden = !row.textContent.toLowerCase().includes(wanted);
      if (!row.hidden) count += 1;
    }
    shown.textContent = wanted ? `Showing ${count} of ${rows.length} servers.` : "";
  };
  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  text.addEventListener("input", filter);
  filter();

  const valueOf = (row, column, kind) => {
    const cell = row.cells[column];
    const value = cell.dataset.value ?? cell.textContent.trim();
    return kind === "number" ? (value === "" ? NaN : Number(value)) : value.toLowerCase();
  };
  // What has no value stays last in both directions.
  const compare = (one, other, sign) => {
    if (Number.isNaN(one) || Number.isNaN(other)) return Number.isNaN(one) - Number.isNaN(other);
    return one < other ? -sign : one > other ? sign : 0;
  };
  const heads = Array.from(table.tHead.rows[0].cells);
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const descending = head.getAttribute("aria-sort") === "ascending";
      for (const each of heads) each.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", descending ? "descending" : "ascending");
      const kind = head.dataset.sort;
      rows.sort((a, b) => compare(valueOf(a, column, kind), valueOf(b, column, kind), descending ? -1 : 1));
      body.append(...rows);
    });
  });
})();

// On a narrow screen a row is a paragraph: each value is named by its column, and what is not there is not shown.
for (const table of document.querySelectorAll("table:not(.upright)")) {
  const names = [...(table.tHead?.rows[0].cells ?? [])].map((head) => head.textContent);
  for (const cell of table.tBodies[0].querySelectorAll("td")) {
    if (/^[–\s]*$/.test(cell.textContent)) cell.classList.add("none");
    else if (cell.cellIndex && names[cell.cellIndex]) cell.dataset.name = names[cell.cellIndex];
  }
}
// Click or press a column head to sort its table; figures sort as figures, the rest as text.
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") !== "descending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const value = (row) => row.cells[column].dataset.sort ?? row.cells[column].textContent.trim();
      const order = (a, b) => {
        const [x, y] = [Number(value(a)), Number(value(b))];
        const byNumber = Number.isNaN(x) || Number.isNaN(y);
        return byNumber ? value(a).localeCompare(value(b)) : x === y ? 0 : x - y;
      };
      const rows = [...table.tBodies[0].rows].sort((a, b) => (down ? order(b, a) : order(a, b)));
      table.tBodies[0].append(...rows);
    });
  });
}
// What a link leads to may be behind a line that opens.
function unfold() {
  const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  const folds = [];
  for (let fold = target.closest("details"); fold; fold = fold.parentElement.closest("details")) folds.push(fold);
  if (!folds.some((fold) => !fold.open)) return;
  for (const fold of folds) fold.open = true;
  target.scrollIntoView();
}
addEventListener("hashchange", unfold);
unfold();
// A box above every longer table: only rows that hold all of its words are shown.
for (const table of document.querySelectorAll("table.sortable")) {
  const rows = [...table.tBodies[0].rows];
  if (rows.length < 9) continue;
  const box = document.createElement("input");
  box.type = "search";
  box.className = "filter";
  box.placeholder = `Filter ${rows.length} rows`;
  box.setAttribute("aria-label", "Show only rows that hold these words");
  box.addEventListener("input", () => {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
    }
  });
  table.closest(".table").before(box);
}

// On a narrow screen a row is a paragraph: each value is named by its column, and what is not there is not shown.
// The title of a column, without a chart below it.
function titleOf(head) {
  return [...head.childNodes].filter((one) => !one.classList?.contains("head")).map((one) => one.textContent).join("").trim();
}
for (const table of document.querySelectorAll("table:not(.upright)")) {
  const names = [...(table.tHead?.rows[0].cells ?? [])].map(titleOf);
  for (const cell of table.tBodies[0].querySelectorAll("td")) {
    if (/^[–\s]*$/.test(cell.textContent)) cell.classList.add("none");
    else if (cell.cellIndex && names[cell.cellIndex]) cell.dataset.name ||= names[cell.cellIndex];
  }
}
// The address keeps the order and the filter of each table, so that a view can be linked to.
const view = new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : "");
function keepInAddress(key, value) {
  value ? view.set(key, value) : view.delete(key);
  try { history.replaceState(null, "", `#${view}`); } catch { /* a page inside another */ }
}
// Opens the lines that something is behind; says whether one was closed.
function openAround(element) {
  const folds = [];
  for (let fold = element.closest("details"); fold; fold = fold.parentElement.closest("details")) folds.push(fold);
  const closed = folds.some((fold) => !fold.open);
  for (const fold of folds) fold.open = true;
  return closed;
}
// Click or press a column head to sort its table; figures sort as figures, the rest as text.
document.querySelectorAll("table.sortable").forEach((table, number) => {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    const sort = (down) => {
      keepInAddress(`sort${number}`, `${down ? "-" : ""}${column + 1}`);
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
    };
    button.addEventListener("click", () => sort(head.getAttribute("aria-sort") !== "descending"));
    const kept = Number(view.get(`sort${number}`));
    if (Math.abs(kept) === column + 1) { sort(kept < 0); openAround(table); }
  });
});
// What a link leads to may be behind a line that opens.
function unfold() {
  const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target && openAround(target)) target.scrollIntoView();
}
addEventListener("hashchange", unfold);
unfold();
// A box above every longer table: only rows that hold all of its words are shown.
document.querySelectorAll("table.sortable").forEach((table, number) => {
  const rows = [...table.tBodies[0].rows];
  if (rows.length < 9) return;
  const box = document.createElement("input");
  box.type = "search";
  box.className = "filter";
  box.placeholder = `Filter ${rows.length} rows`;
  box.setAttribute("aria-label", "Show only rows that hold these words");
  const filter = () => {
    keepInAddress(`filter${number}`, box.value);
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
    }
  };
  box.addEventListener("input", filter);
  table.closest(".table").before(box);
  box.value = view.get(`filter${number}`) ?? "";
  if (box.value) { filter(); openAround(table); }
});
// Above a grid of cards, a box and chips: only cards with all of their words are shown.
document.querySelectorAll(".grid").forEach((grid, number) => {
  const cards = [...grid.querySelectorAll(".card")];
  if (cards.length < 5) return;
  const finder = document.createElement("div");
  finder.className = "finder";
  const box = document.createElement("input");
  box.type = "search";
  box.className = "filter";
  box.placeholder = `Search ${cards.length} cards`;
  box.setAttribute("aria-label", "Show only cards that hold these words");
  const chips = document.createElement("div");
  chips.className = "chips";
  const filter = () => {
    keepInAddress(`cards${number}`, box.value);
    const pressed = [...chips.querySelectorAll("[aria-pressed=true]")].map((chip) => chip.textContent.toLowerCase());
    const words = [...box.value.toLowerCase().split(/\s+/).filter(Boolean), ...pressed];
    for (const card of cards) {
      const text = card.textContent.toLowerCase();
      card.hidden = !words.every((word) => text.includes(word));
    }
  };
  const among = (words) => cards.filter((card) => card.textContent.toLowerCase().includes(words.toLowerCase())).length;
  for (const words of (grid.dataset.chips ?? "").split("|").filter(Boolean)) {
    if (!among(words) || among(words) === cards.length) continue;
    const chip = document.createElement("button");
    chip.type = "button";
    chip.textContent = words;
    chip.setAttribute("aria-pressed", "false");
    chip.addEventListener("click", () => { chip.setAttribute("aria-pressed", chip.getAttribute("aria-pressed") === "false"); filter(); });
    chips.append(chip);
  }
  box.addEventListener("input", filter);
  finder.append(box, chips);
  grid.before(finder);
  box.value = view.get(`cards${number}`) ?? "";
  if (box.value) filter();
});
// What is beside a button with data-copy is copied.
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
    button.textContent = "Copied";
  } catch { // a page inside another may not: the command is selected instead
    getSelection().selectAllChildren(button.parentElement.querySelector("code") ?? button);
  }
});

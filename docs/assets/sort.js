// Click a column header of a table in a block marked `sortable` to sort by it; click again to turn the order round.
document.querySelectorAll(".sortable table").forEach((table) => {
  const value = (row, at) => {
    const cell = row.cells[at];
    const shown = (cell.querySelector("[data-sort]")?.dataset.sort ?? cell.textContent).trim();
    const number = parseFloat(shown.replace(/,/g, ""));
    return Number.isNaN(number) ? shown.toLowerCase() : number;
  };
  const compare = (a, b) => (typeof a === typeof b ? (a < b ? -1 : a > b ? 1 : 0) : typeof a === "number" ? -1 : 1);
  table.querySelectorAll("thead th").forEach((head, at) => {
    const button = document.createElement("button");
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      table.querySelectorAll("th").forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const rows = [...table.tBodies[0].rows].sort((a, b) => compare(value(a, at), value(b, at)));
      table.tBodies[0].append(...(down ? rows.reverse() : rows));
    });
  });
});

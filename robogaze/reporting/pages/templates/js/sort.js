// Tables are sorted by the column whose head is pressed, and in reverse if it is pressed again.

for (const table of document.querySelectorAll(".results-table"))
  [...table.tHead.rows[0].cells].forEach((head, column) => makeSortable(table, head, column));

function makeSortable(table, head, column) {
  const button = make("button", { type: "button", class: "sort", title: "sort", onclick: sort });
  button.append(...head.childNodes);
  head.append(button);

  function sort() {
    const rows = [...table.tBodies[0].rows];
    const valueOf = (row) => row.cells[column].dataset.sort;
    const isNumeric = rows.every((row) => valueOf(row) === "" || !Number.isNaN(Number(valueOf(row))));
    const before = head.getAttribute("aria-sort");
    const descending = before ? before === "ascending" : isNumeric;
    const compare = isNumeric ? (a, b) => Number(a) - Number(b) : (a, b) => a.localeCompare(b);
    rows.sort((one, other) => {
      const [a, b] = [valueOf(one), valueOf(other)];
      if (a === "" || b === "") return (a === "") - (b === ""); // undefined values stay last
      return descending ? compare(b, a) : compare(a, b);
    });
    for (const cell of table.tHead.rows[0].cells) cell.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", descending ? "descending" : "ascending");
    table.tBodies[0].append(...rows);
  }
}

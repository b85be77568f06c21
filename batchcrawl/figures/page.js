// Sorts a table by the column whose name is clicked.
for (const head of document.querySelectorAll("th")) head.querySelector("button").addEventListener("click", () => {
  const body = head.closest("table").tBodies[0], at = head.cellIndex;
  const down = head.getAttribute("aria-sort") !== "descending", key = row => row.cells[at].dataset.n;
  const order = (a, b) => key(a) === undefined || key(b) === undefined
    ? (key(a) === undefined) - (key(b) === undefined) || a.cells[at].textContent.localeCompare(b.cells[at].textContent)
    : key(a) - key(b);
  const rows = [...body.rows].sort((a, b) => down ? order(b, a) : order(a, b));
  for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  body.append(...rows);
});

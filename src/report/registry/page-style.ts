/** Styles of a registry's index. They must come after the base style. */
export const pageStyle = `
main, .wide { max-width: 96rem; }
header.wide { padding-block: 2rem 0; }
.lead { font-size: 1.05rem; color: var(--muted); }
.controls { display: flex; flex-wrap: wrap; gap: 0.6rem 1rem; align-items: center; padding: 0.7rem 0; }
.controls a { margin-left: auto; }
#filter { display: flex; flex-wrap: wrap; gap: 0.6rem; align-items: center; }
.controls label { display: flex; gap: 0.5rem; align-items: center; }
.table-box { position: relative; }
.registry td, .registry th { padding: 0.5rem 0.5rem; font-size: 0.88rem; }
.registry thead button { border: 0; background: none; padding: 0.2rem 0; font-weight: inherit; text-align: left; }
.registry [aria-sort="ascending"] button::after { content: " ▲"; }
.registry [aria-sort="descending"] button::after { content: " ▼"; }
.registry tbody th { min-width: 8.5rem; }
.registry .why, .registry .at { display: block; color: var(--muted); font-weight: 400; font-size: 0.84rem; }
.registry .at { overflow-wrap: anywhere; }
.registry .why { min-width: 8rem; }
.registry .files a { margin-right: 0.4rem; white-space: nowrap; }
.mark { font-weight: 700; }
.mark.pass { color: var(--pass); } .mark.fail { color: var(--fail); } .mark.warning { color: var(--warning); }
.not-current .mark { color: var(--muted); }
@media print {
  @page { size: landscape; }
  .registry td, .registry th { padding: 0.2rem 0.3rem; font-size: 7.5pt; white-space: normal; }
  .registry thead button { display: inline !important; }
  .registry tbody th, .registry .why { min-width: 0; }
}
`;

/**
 * The script of the index: search, sort, and a button that hides what does not count any more. Without scripts, the page shows every row.
 */
export const pageScript = `
const table = document.querySelector(".registry");
const body = table.tBodies[0];
const rows = [...body.rows];
const search = document.querySelector("#search");
const currentOnly = document.querySelector("#current-only");
const texts = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));
const apply = () => {
  const words = search.value.toLowerCase().split(/\\s+/);
  const only = currentOnly.getAttribute("aria-pressed") === "true";
  for (const row of rows)
    row.hidden = (only && row.classList.contains("not-current")) || !words.every((word) => texts.get(row).includes(word));
  document.querySelector("#shown").textContent = rows.filter((row) => !row.hidden).length + " of " + rows.length + " shown";
};
const keyOf = (row, column) => row.cells[column].dataset.key ?? row.cells[column].textContent.trim();
const sortBy = (head, column) => {
  const direction = head.getAttribute("aria-sort") === "ascending" ? "descending" : "ascending";
  for (const each of table.tHead.rows[0].cells) each.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", direction);
  const sign = direction === "ascending" ? 1 : -1;
  const compared = (one, other) => sign * keyOf(one, column).localeCompare(keyOf(other, column), "en", { numeric: true });
  body.append(...rows.toSorted(compared));
};
[...table.tHead.rows[0].cells].forEach((head, column) => {
  if (head.dataset.sorts === undefined) return;
  const button = document.createElement("button");
  button.type = "button";
  button.append(...head.childNodes);
  head.append(button);
  button.addEventListener("click", () => sortBy(head, column));
});
document.querySelector("#filter").hidden = false;
search.addEventListener("input", apply);
currentOnly.addEventListener("click", () => {
  currentOnly.setAttribute("aria-pressed", String(currentOnly.getAttribute("aria-pressed") !== "true"));
  apply();
});
apply();
`;

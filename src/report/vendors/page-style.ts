/** Styles of the vendors page. They must come after the styles that all pages share. */
export const vendorsPageStyle = `
main, .wide { max-width: 84rem; }
header.wide { padding-block: 2rem 0; }
.lead { font-size: 1.05rem; color: var(--muted); }
.heads { display: grid; grid-template-columns: repeat(auto-fit, minmax(15rem, 1fr)); gap: 1rem; margin: 1.5rem 0; padding: 0; list-style: none; }
.head { border: 1px solid var(--line); border-top: 5px solid var(--muted); border-radius: 12px; padding: 1rem 1.15rem; background: var(--raised);
  box-shadow: var(--shadow); }
.head.pass { border-top-color: var(--pass); } .head.fail { border-top-color: var(--fail); } .head.warning { border-top-color: var(--warning); }
.head h2 { font-size: 1.15rem; overflow-wrap: anywhere; }
.head .word { font-weight: 700; font-size: 1.02rem; margin: 0.35rem 0 0.5rem; }
.head.pass .word { color: var(--pass); } .head.fail .word { color: var(--fail); } .head.warning .word { color: var(--warning); }
.head p { margin: 0.3rem 0; font-size: 0.9rem; }
.bar { display: flex; height: 0.55rem; border-radius: 999px; overflow: hidden; background: var(--skipped-soft); margin: 0.6rem 0; width: 100%; }
.bar rect.pass { fill: var(--pass); } .bar rect.fail { fill: var(--fail); } .bar rect.warning { fill: var(--warning); }
.bar rect.rest { fill: var(--line); }
.notes { padding: 0.7rem 1rem 0.7rem 2.1rem; background: var(--note-soft); border-radius: 10px; font-size: 0.92rem; }
.notes li { margin-block: 0.25rem; }
.controls { position: sticky; top: 0; z-index: 5; display: flex; flex-wrap: wrap; gap: 0.6rem 1rem; align-items: center; padding: 0.7rem 0;
  background: var(--page); border-bottom: 1px solid var(--line); }
section { scroll-margin-top: 4rem; }
.matrix { max-height: 85vh; overflow: auto; }
.matrix table { table-layout: fixed; border-collapse: separate; border-spacing: 0; }
.matrix thead th { position: sticky; top: 0; z-index: 2; white-space: normal; overflow-wrap: anywhere; font-size: 0.9rem; color: var(--ink);
  border-bottom: 2px solid var(--strong-line); }
.matrix col.what { width: 19rem; } .matrix col.vendor { width: 13.5rem; } .matrix col.unjudged { width: 8rem; }
.matrix table { width: max-content; min-width: 100%; }
.matrix .row-head { position: sticky; left: 0; z-index: 1; background: var(--raised); font-weight: 400; border-right: 1px solid var(--line); }
.matrix thead th:first-child { left: 0; z-index: 3; border-right: 1px solid var(--line); }
.matrix .row-head > code { font-weight: 650; background: none; padding: 0; font-size: 0.92rem; color: var(--ink); }
.controls nav { display: flex; flex-wrap: wrap; gap: 0.2rem 1rem; font-size: 0.92rem; margin-left: auto; }
.controls a { text-decoration: none; } .controls a:hover { text-decoration: underline; }
.matrix .row-head .says { display: block; color: var(--muted); font-size: 0.84rem; line-height: 1.4; }
.matrix .rows-of th { background: var(--panel); font-size: 0.86rem; font-weight: 650; text-align: left; position: sticky; left: 0; }
.matrix tr.differs > td { background: var(--accent-soft); }
.matrix tr.differs > .row-head { box-shadow: inset 4px 0 0 var(--accent); }
.matrix td { font-size: 0.88rem; overflow-wrap: anywhere; }
.matrix td p { margin: 0.35rem 0 0; font-size: 0.84rem; line-height: 1.4; }
.matrix td .nothing { color: var(--muted); }
.only-differences .matrix tr.differs > td { background: none; }
.only-differences .same { display: none; }
.asked { margin-block: 1rem; } .asked h3 { overflow-wrap: anywhere; }
.switch { margin-block: 0.6rem; } .switch summary { overflow-wrap: anywhere; font-weight: 650; }
.asked li, .switch li { max-width: 90ch; margin-block: 0.4rem; }
.apart { font-size: 0.78rem; font-weight: 650; color: var(--accent); white-space: nowrap; }
@media (max-width: 40rem) {
  .controls { position: static; }
  .matrix col.what { width: 9.5rem; } .matrix col.vendor { width: 10.5rem; }
  .matrix .row-head .says { font-size: 0.78rem; }
}
@page { size: A4 landscape; margin: 10mm; }
@media print {
  header.wide { padding-block: 0; }
  .heads { margin: 0.6rem 0; } .head { padding: 0.4rem 0.7rem; }
  .matrix { max-height: none; overflow: visible; }
  .matrix thead th, .matrix .row-head, .matrix .rows-of th { position: static; }
  .matrix col.what, .matrix col.vendor, .matrix col.unjudged { width: auto; }
  .matrix table { width: 100%; min-width: 0; font-size: 8pt; line-height: 1.3; }
  .matrix td, .matrix th { padding: 0.15rem 0.35rem; font-size: 7.5pt !important; }
  .matrix td p, .matrix .row-head .says { font-size: 7pt; line-height: 1.3; margin: 0; }
  .matrix td p, .matrix td .words, .matrix .row-head .says { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 3;
    overflow: hidden; }
  section.differences:not(:has(tr.differs)), .differences .same, .unprinted { display: none; }
  section[data-unprinted]::after { content: attr(data-unprinted); font-size: 8pt; color: var(--muted); }
  .asked, .switch { margin-block: 0.4rem; font-size: 8pt; line-height: 1.3; }
  .asked li, .switch li { max-width: none; margin-block: 0.15rem; display: list-item; }
  .asked .words { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 3; overflow: hidden; }
}
`;

/**
 * The script of the button that shows only rows in which vendors differ. `#differences` in the URL has the same effect.
 */
export const vendorsPageScript = `
const root = document.documentElement;
const controls = document.querySelector(".controls");
const button = document.querySelector("#differences-only");
const count = document.querySelector("#shown");
const show = (only) => {
  root.classList.toggle("only-differences", only);
  button.setAttribute("aria-pressed", String(only));
  const rows = [...document.querySelectorAll("tr[data-row]")];
  const shown = only ? rows.filter((row) => row.classList.contains("differs")) : rows;
  count.textContent = shown.length + " of " + rows.length + " rows shown";
};
controls.querySelector("#filter").hidden = false;
button.addEventListener("click", () => {
  const only = button.getAttribute("aria-pressed") !== "true";
  history.replaceState(null, "", only ? "#differences" : "#all");
  show(only);
});
show(location.hash === "#differences");
`;

/** The style sheet of a report's page. It must come after `baseStyle` and `chartStyle`. */
export const reportStyle = `
.masthead { padding-block: clamp(1.5rem, 5vw, 2.75rem) 0; }
.masthead .kicker { margin: 0 0 0.35rem; color: var(--muted); font-size: 0.92rem; }
.masthead .banner { margin-top: 1.25rem; }
.masthead .target { margin: 0.35rem 0 0; color: var(--muted); overflow-wrap: anywhere; }
.contents { margin-top: 1.5rem; }
.contents ul { display: flex; flex-wrap: wrap; gap: 0.4rem 1.25rem; list-style: none; margin: 0; padding: 0; font-size: 0.95rem; }
.charts > .chart:only-child { max-width: 40rem; }
.fixes { padding: 0; list-style: none; counter-reset: fix; display: grid; grid-template-columns: minmax(0, 1fr); gap: 0.75rem; }
.fixes > li { counter-increment: fix; position: relative; padding-left: 3.4rem; overflow-wrap: anywhere; }
.fixes > li::before { content: counter(fix); position: absolute; left: 1rem; top: 1rem; width: 1.6rem; height: 1.6rem; border-radius: 50%;
  background: var(--ink); color: var(--page); font-weight: 700; font-size: 0.9rem; display: grid; place-items: center; }
.fixes p { margin: 0.2rem 0; max-width: none; }
.clause { font-family: var(--mono); font-size: 0.9em; font-weight: 650; white-space: nowrap; }
.clause, .instance { display: inline-block; max-width: 100%; overflow: hidden; text-overflow: ellipsis; vertical-align: bottom; }
.finding .row .says { min-width: 0; max-width: 100%; overflow-wrap: anywhere; }
.instance { font-size: 0.8rem; color: var(--muted); border: 1px solid var(--line); border-radius: 999px; padding: 0.05em 0.55em; white-space: nowrap; }
.controls { display: flex; flex-wrap: wrap; gap: 0.75rem; padding: 0.9rem 1rem; background: var(--panel); border: 1px solid var(--line);
  border-radius: 12px; }
.controls .field { display: flex; flex-direction: column; gap: 0.2rem; font-size: 0.92rem; min-width: 0; }
.controls .grow { flex: 1 1 16rem; }
.controls label { color: var(--muted); font-size: 0.82rem; }
.controls .outcomes { flex-basis: 100%; display: flex; flex-wrap: wrap; gap: 0.4rem; font-size: 0.9rem; }
.controls button { border-radius: 999px; }
.count { font-variant-numeric: tabular-nums; opacity: 0.8; }
#matches { margin: 0.7rem 0; font-size: 0.92rem; }
.suite, .tier { border: 1px solid var(--line); border-radius: 12px; margin-top: 0.75rem; background: var(--raised); }
.suite > summary, .tier > summary { padding: 0.7rem 1rem; }
.suite > summary h3, .tier > summary h3 { display: inline; }
.suite[open] > summary { border-bottom: 1px solid var(--line); }
.suite > summary:hover, .tier > summary:hover { background: var(--panel); border-radius: 12px; }
.tier { padding-bottom: 0; } .tier > :not(summary) { margin: 0.25rem 1rem 1rem; }
.tallies { float: right; display: inline-flex; flex-wrap: wrap; gap: 0.15rem 0.8rem; font-size: 0.85rem; font-variant-numeric: tabular-nums; }
.finding { border-bottom: 1px solid var(--line); }
.finding:last-child { border-bottom: 0; }
.finding > summary { padding: 0.45rem 1rem; line-height: 1.5; }
.finding .row { display: inline-grid; grid-template-columns: 6.2rem 5.4rem minmax(0, 1fr); gap: 0 0.6rem; width: calc(100% - 1.6rem);
  vertical-align: top; align-items: baseline; }
.rest > summary { padding: 0.45rem 1rem; color: var(--muted); font-size: 0.92rem; }
.rest[open] > summary { border-bottom: 1px solid var(--line); }
.finding > summary:hover { background: var(--panel); }
.finding > summary .badge { text-align: center; }
.finding > summary .clause { white-space: normal; overflow-wrap: anywhere; }
.finding .body { padding: 0.2rem 1rem 1rem; margin-left: 1rem; border-left: 3px solid var(--line); margin-bottom: 0.8rem; }
.finding.fail .body { border-left-color: var(--fail); } .finding.warning .body { border-left-color: var(--warning); }
.finding.note .body { border-left-color: var(--note); } .finding.observed .body { border-left-color: var(--observed); }
.finding.error .body { border-left-color: var(--error); }
.finding h4 { margin: 0.9rem 0 0.2rem; }
.finding.linked { background: var(--accent-soft); box-shadow: inset 4px 0 0 var(--accent); }
.facts { margin: 0.4rem 0; display: grid; gap: 0.35rem; }
.facts > div { display: grid; grid-template-columns: 10rem minmax(0, 1fr); gap: 0 1rem; }
.facts dt { color: var(--muted); font-size: 0.88rem; padding-top: 0.1em; }
.facts dd { margin: 0; overflow-wrap: anywhere; }
.wire, .curl { max-height: 32rem; font-size: 0.8rem; }
/* A wrapped line is indented, so that its continuation cannot look like another line. */
.wire span { display: inline-block; width: 100%; padding-left: 2ch; text-indent: -2ch; white-space: pre-wrap; overflow-wrap: anywhere;
  vertical-align: top; }
.wire .sent { color: var(--accent); } .wire .note { color: var(--muted); font-style: italic; }
.command-head { display: flex; justify-content: space-between; align-items: end; gap: 1rem; margin-top: 0.9rem; }
.command-head h4 { margin: 0; }
.copy { font-size: 0.82rem; padding: 0.12rem 0.7rem; }
.curl { margin-top: 0.35rem; }
.links { display: flex; gap: 1rem; align-items: center; margin-bottom: 0; }
.names { overflow-wrap: anywhere; }
.wordy td, .wordy th[scope="row"] { min-width: 9rem; } .wordy .nowrap, .wordy td.number { min-width: 0; }
.place { display: block; }
.dense th, .dense td { padding-inline: 0.6rem; }
.table-box + .table-box { margin-top: 0.75rem; }
.plain { list-style: none; margin: 0; padding: 0; display: grid; gap: 0.2rem; }
a.outcome { text-decoration: none; }
.trace tr:has(:target) { background: var(--accent-soft); }
#announcement { position: fixed; left: 50%; bottom: 1.25rem; translate: -50% 0; background: var(--ink); color: var(--page); border-radius: 8px;
  padding: 0.5rem 1rem; font-size: 0.92rem; max-width: calc(100vw - 2rem); }
#announcement:empty { visibility: hidden; padding: 0; }
@media (max-width: 40rem) {
  .tallies { float: none; display: flex; margin-top: 0.3rem; }
  .facts > div { grid-template-columns: 1fr; }
  .finding .row { grid-template-columns: auto minmax(0, 1fr); justify-items: start; }
  .finding .row .says { grid-column: 1 / -1; }
  .finding .body { margin-left: 0.25rem; padding-right: 0.4rem; padding-left: 0.7rem; }
  .finding > summary, .suite > summary, .rest > summary { padding-inline: 0.75rem; }
  .fixes > li { padding: 0.9rem; padding-left: 3rem; } .fixes > li::before { left: 0.7rem; top: 0.9rem; }
  .tier > :not(summary) { margin-inline: 0.6rem; }
  .controls .field, .controls select { width: 100%; }
}
@media print {
  .suite, .tier, .finding { border-radius: 0; }
  /* Not printed, because these findings would fill a hundred sheets. The tables list them. */
  .finding:is(.pass, .observed, .skipped), .rest, .contents, #matches, #announcement, .links { display: none !important; }
  details:not(.figure-table)::details-content { display: block; content-visibility: visible; block-size: auto; }
  .finding > summary, .suite > summary { list-style: none; }
  .finding.linked { background: none; box-shadow: none; }
  .tallies { float: right; display: inline-flex; }
}
`;

/** The script of a report's page: filters, search, copying and links. It never inserts HTML source into the page. */
export const reportScript = String.raw`(() => {
"use strict";
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const byId = (id) => document.getElementById(id);
const announcement = byId("announcement");
const findings = all(".finding");
const groups = all(".suite, .rest");
const wasOpen = new Map(groups.map((group) => [group, group.open]));
const outcomes = new Set();
let texts = null;
let timer = 0;

const announce = (text) => {
  announcement.textContent = "";
  clearTimeout(timer);
  requestAnimationFrame(() => { announcement.textContent = text; });
  timer = setTimeout(() => { announcement.textContent = ""; }, 4000);
};

const textOf = (finding) => {
  texts ??= new Map(findings.map((each) => [each, (each.textContent + " " + each.dataset.section).toLowerCase()]));
  return texts.get(finding);
};

const matches = (finding, wanted) =>
  (outcomes.size === 0 || outcomes.has(finding.dataset.outcome)) &&
  (wanted.level === "" || finding.dataset.level === wanted.level) &&
  (wanted.section === "" || finding.dataset.section === wanted.section) &&
  wanted.words.every((word) => textOf(finding).includes(word));

const apply = () => {
  const wanted = {
    level: byId("level").value,
    section: byId("section").value,
    words: byId("search").value.toLowerCase().split(/\s+/).filter((word) => word !== ""),
  };
  const isFiltered = outcomes.size > 0 || wanted.level !== "" || wanted.section !== "" || wanted.words.length > 0;
  let shown = 0;
  for (const finding of findings) {
    finding.classList.remove("linked");
    finding.hidden = isFiltered && !matches(finding, wanted);
    if (!finding.hidden) shown += 1;
  }
  for (const group of groups) {
    const some = group.querySelector(".finding:not([hidden])") !== null;
    group.hidden = !some;
    group.open = isFiltered ? some : wasOpen.get(group);
  }
  byId("reset").hidden = !isFiltered;
  byId("matches").textContent = isFiltered ? shown + " of " + findings.length + " findings" : findings.length + " findings";
};

const reset = () => {
  outcomes.clear();
  for (const button of all("[data-filters]")) button.setAttribute("aria-pressed", "false");
  for (const id of ["search", "level", "section"]) byId(id).value = "";
  apply();
  byId("search").focus();
};

const follow = () => {
  let id = location.hash.slice(1);
  try { id = decodeURIComponent(id); } catch { /* as it stands */ }
  const target = id === "" ? null : byId(id);
  if (target === null) return;
  for (const each of all(".linked")) each.classList.remove("linked");
  for (let at = target; at !== null; at = at.parentElement) {
    at.hidden = false;
    if (at.tagName === "DETAILS") at.open = true;
  }
  if (target.classList.contains("finding")) {
    target.classList.add("linked");
    target.querySelector("summary").focus({ preventScroll: true });
  }
  requestAnimationFrame(() => target.scrollIntoView({ block: "start" }));
};

const copyBySelection = (text) => {
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "visually-hidden";
  document.body.append(field);
  const before = document.activeElement;
  field.select();
  const isCopied = document.execCommand("copy");
  field.remove();
  before?.focus();
  return isCopied;
};

const copy = async (button) => {
  const isLink = button.dataset.copies === "link";
  const text = isLink
    ? location.href.replace(/#.*/s, "") + "#" + button.closest(".finding").id
    : button.closest(".command").querySelector(".curl").textContent;
  let isCopied = false;
  try {
    await navigator.clipboard.writeText(text);
    isCopied = true;
  } catch {
    isCopied = copyBySelection(text);
  }
  announce(isCopied ? (isLink ? "The link is copied." : "The command is copied.") : "The browser does not let the page copy. Select the text by hand.");
};

byId("controls").hidden = false;
for (const button of all(".copy")) {
  button.hidden = false;
  button.addEventListener("click", () => copy(button));
}
for (const button of all("[data-filters]")) button.addEventListener("click", () => {
  const name = button.dataset.filters;
  if (!outcomes.delete(name)) outcomes.add(name);
  button.setAttribute("aria-pressed", String(outcomes.has(name)));
  apply();
});
for (const id of ["search", "level", "section"]) byId(id).addEventListener("input", apply);
byId("reset").addEventListener("click", reset);
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href^='#']");
  if (link !== null && link.getAttribute("href") === location.hash) follow();
});
addEventListener("hashchange", follow);
let closed = [];
addEventListener("beforeprint", () => {
  closed = all("details:not([open], .figure-table, .rest, .finding:is(.pass, .observed, .skipped))");
  for (const each of closed) each.open = true;
});
addEventListener("afterprint", () => {
  for (const each of closed) each.open = false;
});
if (byId("search").value !== "" || byId("level").value !== "" || byId("section").value !== "") apply();
follow();
})();`;

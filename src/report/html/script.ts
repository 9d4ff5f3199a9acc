/** The script of a report's page: filters, search, copying, and links into collapsed details. It never writes markup into the page. */
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

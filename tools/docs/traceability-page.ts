import { type ClauseId, clauseIds, clauseOf } from "../../src/spec/clauses.ts";
import { clausesOf, isItemNumber, outline, placesCiting } from "../../src/spec/outline.ts";
import { derivations } from "../../src/spec/outline/derived.ts";
import type { Item, Section } from "../../src/spec/outline/item.ts";

export function traceabilityPage(): string {
  const parts = [intro(), ...outline.map(itemTable), derivedTable(), clauseTable()];
  return `${parts.join("\n\n")}\n`;
}

function intro(): string {
  const items = outline.flatMap((section) => section.items);
  const without = items.filter(({ kind }) => kind === "without clause");
  return `# Traceability

What becomes of each item of the interface document, and where each [clause](clauses.md) comes from. Under a heading stand all its
items in the document's order: numbered sentences (in parts, where one says several things), rows of tables, codes, examples, and
what is "not shown". An item has the clauses that state it, or that it is needed for, or it says why it has none.

The tests demand that no item is empty, that each clause has an item at the place that it names itself, and that a
[derived clause](#derived-clauses) says from which places it follows. ${items.length} items under ${outline.length} headings,
${without.length} of them without a clause; ${clauseIds.length} clauses, ${derivedIds.length} of them derived.

This page is generated from \`src/spec/outline\` and \`src/spec/clauses\` by \`npm run docs\`.

# From the document to the clauses`;
}

const derivedIds = clauseIds.filter((id) => derivations[id] !== undefined);

const itemTable = ({ heading, items }: Section): string =>
  lines(`## ${heading}`, "", "| item | says | clauses |", "|---|---|---|", ...items.map(itemRow));

const itemRow = (item: Item): string =>
  row(item.at, item.about, item.kind === "stated" ? clausesOf(item).map(formatClause).join(", ") : `none: ${item.why}`);

const formatClause = (id: ClauseId): string => {
  const { level } = clauseOf(id);
  return level === "must" ? id : `${id} (${level})`;
};

function derivedTable(): string {
  const rows = derivedIds.map((id) => {
    const { from = [], because = "" } = derivations[id] ?? {};
    return row(id, clauseOf(id).says, from.join("<br>"), because);
  });
  return lines(
    "# From the clauses to the document",
    "",
    "## Derived clauses",
    "",
    "No sentence of the document has their words; they bind because what is stated leaves no other way.",
    "",
    "| clause | says | follows from | because |",
    "|---|---|---|---|",
    ...rows,
  );
}

function clauseTable(): string {
  const rows = clauseIds.map((id) => {
    const { section, level } = clauseOf(id);
    const others = dropOuterHeadings(placesCiting(id)).filter((place) => place !== section);
    return row(id, level, section, others.join("<br>"));
  });
  return lines("## All clauses", "", "| clause | level | place | also |", "|---|---|---|---|", ...rows);
}

/** Drops a heading, such as `Keys`, if the list also contains one of its numbered items, such as `Keys 3`. */
const dropOuterHeadings = (places: readonly string[]): string[] =>
  places.filter(
    (place) => !places.some((other) => other.startsWith(`${place} `) && isItemNumber(other.slice(place.length + 1))),
  );

const lines = (...all: readonly string[]): string => all.join("\n");

const row = (...cells: readonly string[]): string =>
  `| ${cells.map((text) => text.replaceAll("|", "\\|")).join(" | ")} |`;

import { sanitizeLine } from "../../base/sanitize.ts";
import type {
  SectionBlock,
  SharedCause,
  CausesBlock,
  TableCell,
  FactsBlock,
  CellLink,
  Section,
  TableBlock,
} from "../model/section.ts";
import {
  type AnchorOf,
  definitionList,
  numberColumn,
  pageSection,
  renderTable,
  runAnchor,
  textHtml,
} from "./elements.ts";
import { type Html, html, type HtmlContent } from "./markup.ts";

export const renderSection = ({ name, title, lead, blocks }: Section, anchorOf: AnchorOf): Html =>
  pageSection(
    name,
    title,
    html`${lead !== undefined && html`<p>${textHtml(lead)}</p>`} ${blocks.map((block) => blockHtml(block, anchorOf))}`,
  );

function blockHtml(block: SectionBlock, anchorOf: AnchorOf): Html {
  switch (block.kind) {
    case "table":
      return tableHtml(block, anchorOf);
    case "facts":
      return factsHtml(block);
    case "items":
      return html`<ul>
        ${block.items.map((item) => html`<li>${textHtml(item)}</li>`)}
      </ul>`;
    case "causes":
      return causesHtml(block, anchorOf);
  }
}

export function tableHtml({ name, columns, rows, lead, isMinor }: TableBlock, anchorOf: AnchorOf): Html {
  const isWordy = columns.every(({ align }) => align === "left");
  const table = renderTable(
    name,
    columns.map(({ head, align }, at) => (align === "right" ? numberColumn(head) : [head, at === 0 ? "nowrap" : ""])),
    rows.map((row) => row.map((cell) => cellHtml(cell, anchorOf))),
    isWordy ? "wordy" : "dense",
  );
  if (isMinor === true)
    return html`<details>
      <summary>${name}</summary>
      ${table}
    </details>`;
  return html`${lead !== undefined && html`<p>${textHtml(lead)}</p>`}${table}`;
}

function cellHtml({ text, tone, link }: TableCell, anchorOf: AnchorOf): Html {
  const words =
    link === undefined ? textHtml(text) : html`<a href="#${linkAnchor(link, anchorOf)}">${textHtml(text)}</a>`;
  return tone === "bad" ? html`<strong>${words}</strong>` : words;
}

const linkAnchor = (link: CellLink, anchorOf: AnchorOf): string =>
  link.kind === "finding" ? anchorOf(link.finding) : runAnchor(link.evidence);

export const factsHtml = ({ facts }: Pick<FactsBlock, "facts">, classes = "facts"): Html =>
  definitionList(
    classes,
    facts.map(({ label, value }) => [textHtml(label), textHtml(value)]),
  );

const causesHtml = ({ head, causes }: CausesBlock, anchorOf: AnchorOf): Html =>
  renderTable(
    head,
    [head, numberColumn("Checks"), "Clauses"],
    causes.map((cause) => causeCells(cause, anchorOf)),
    "wordy",
  );

function causeCells({ text, findings }: SharedCause, anchorOf: AnchorOf): HtmlContent[] {
  const byClause = new Map(findings.map((each) => [each.clause, each]));
  const links = [...byClause.values()].map(
    (each, at) =>
      html`${at > 0 && ", "}<a class="nowrap" href="#${anchorOf(each)}">${sanitizeLine(each.clause, 60)}</a>`,
  );
  return [textHtml(text), findings.length, links];
}

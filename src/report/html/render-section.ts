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
import { findingAnchor, runAnchor } from "./anchors.ts";
import { textHtml, numberColumnHead, renderTable } from "./elements.ts";
import { type Html, html } from "./markup.ts";

/** Renders a section of the report under its heading. */
export const renderSection = ({ name, title, lead, blocks }: Section): Html =>
  html`<section aria-labelledby="${name}">
    <h2 id="${name}">${title}</h2>
    ${lead !== undefined && html`<p>${textHtml(lead)}</p>`} ${blocks.map(blockHtml)}
  </section>`;

function blockHtml(block: SectionBlock): Html {
  switch (block.kind) {
    case "table":
      return tableHtml(block);
    case "facts":
      return factsHtml(block);
    case "items":
      return html`<ul>
        ${block.items.map((item) => html`<li>${textHtml(item)}</li>`)}
      </ul>`;
    case "causes":
      return causesHtml(block);
  }
}

/** Renders a table with its explanation. A table of minor interest is collapsed. */
export function tableHtml({ name, columns, rows, lead, isMinor }: TableBlock): Html {
  const head = columns.map(({ head: word, align }) => (align === "right" ? numberColumnHead(word) : word));
  const isWordy = columns.every(({ align }) => align === "left");
  const table = renderTable(
    name,
    head,
    rows.map(
      (row) =>
        html`<tr>
          ${row.map((each, at) => cellHtml(each, at === 0, columns[at]?.align === "right"))}
        </tr>`,
    ),
    isWordy ? "wordy" : "dense",
  );
  if (isMinor === true)
    return html`<details>
      <summary>${name}</summary>
      ${table}
    </details>`;
  return html`${lead !== undefined && html`<p>${textHtml(lead)}</p>`}${table}`;
}

function cellHtml({ text, tone, link }: TableCell, isHead: boolean, isNumber: boolean): Html {
  const words = link === undefined ? textHtml(text) : html`<a href="#${linkAnchor(link)}">${textHtml(text)}</a>`;
  const content = tone === "bad" ? html`<strong>${words}</strong>` : words;
  if (isHead) return html`<th scope="row" class="nowrap">${content}</th>`;
  return isNumber ? html`<td class="number">${content}</td>` : html`<td>${content}</td>`;
}

const linkAnchor = (link: CellLink): string =>
  link.kind === "finding" ? findingAnchor(link.finding) : runAnchor(link.evidence);

export const factsHtml = ({ facts }: Pick<FactsBlock, "facts">, classes = "facts"): Html =>
  html`<dl class="${classes}">
    ${facts.map(
      ({ label, value }) =>
        html`<div>
          <dt>${textHtml(label)}</dt>
          <dd>${textHtml(value)}</dd>
        </div>`,
    )}
  </dl>`;

const causesHtml = ({ head, causes }: CausesBlock): Html =>
  causes.length === 0
    ? html``
    : renderTable(head, [head, numberColumnHead("Checks"), "Clauses"], causes.map(causeRow), "wordy");

function causeRow({ text, findings }: SharedCause): Html {
  const byClause = new Map(findings.map((each) => [each.clause, each]));
  const links = [...byClause.values()].map(
    (each, at) =>
      html`${at > 0 && ", "}<a class="nowrap" href="#${findingAnchor(each)}">${sanitizeLine(each.clause, 60)}</a>`,
  );
  return html`<tr>
    <th scope="row">${textHtml(text)}</th>
    <td class="number">${findings.length}</td>
    <td>${links}</td>
  </tr>`;
}

import { sanitizeLine } from "../../../base/sanitize.ts";
import { joinFirst } from "../../../base/text.ts";
import { rejectedKeyKinds } from "../../../spec/rejected-key-kinds.ts";
import {
  type CoverageCell,
  type CoverageRow,
  coverageOf,
  keyMatrix,
  type Matrix,
  requirementsOf,
  otherRows,
  statusMatrix,
} from "../../model/coverage.ts";
import type { Report } from "../../model/report.ts";
import { numberHead, prose, tableOf } from "../elements.ts";
import { type Html, html } from "../markup.ts";

const mostNames = 12;

/** How much of the sets that the document's sentences speak of the run looked at: endpoints by statuses, events, deliveries. */
export function coveragePart({ findings }: Report): Html {
  const rows = coverageOf(findings);
  if (rows.length === 0) return html``;
  const byKey = keyMatrix(rows);
  const others = otherRows(rows);
  const needs = [...requirementsOf(rows)];
  return html`<section aria-labelledby="coverage">
    <h2 id="coverage">How much was looked at</h2>
    <p>
      Answers by endpoint and status. <strong>3/41</strong>: so many of them were broken in some way.
      <strong>?</strong>: none came, and below stands what it takes. <strong>–</strong>: none came, and no request makes
      one come. Empty: the document gives the endpoint no such answer.
    </p>
    ${matrixOf("Answers looked at", statusMatrix(rows))}
    ${
      byKey.rows.length > 0 &&
      html`<p>
          Requests with a key that is not good for what they ask, by endpoint and kind of key: ${kindsIn(byKey)}. Empty:
          such a key is not tried there.
        </p>
        ${matrixOf("Requests with such keys", byKey)}`
    }
    ${others.length > 0 && html`<dl class="facts">${others.map(eventsOf)}</dl>`}
    ${
      needs.length > 0 &&
      html`<dl class="facts">
        ${needs.map(
          ([what, names]) =>
            html`<div>
              <dt>${sanitizeLine(joinFirst([...names], mostNames), 300)}</dt>
              <dd>takes ${prose(what, 600)}</dd>
            </div>`,
        )}
      </dl>`
    }
  </section>`;
}

const matrixOf = (caption: string, { columns, rows }: Matrix): Html =>
  tableOf(
    caption,
    ["Endpoint", ...columns.map(numberHead)],
    rows.map(
      ({ of, cells }) =>
        html`<tr>
          <th scope="row">${sanitizeLine(of, 40)}</th>
          ${columns.map((column) => html`<td class="number">${countOf(cells.get(column))}</td>`)}
        </tr>`,
    ),
  );

/** What the columns stand for: "none (no key); near (a key that is cut off, a key that is lengthened)". */
const kindsIn = ({ columns }: Matrix): string =>
  columns
    .map((column) => {
      const kinds = Object.entries(rejectedKeyKinds).flatMap(([kind, name]) => (name === column ? [kind] : []));
      return `${column} (${kinds.join(", ")})`;
    })
    .join("; ");

function countOf(cell: CoverageCell | undefined): Html | string {
  switch (cell?.state) {
    case "seen":
      return cell.broken > 0 ? html`<strong>${`${cell.broken}/${cell.looked}`}</strong>` : String(cell.looked);
    case "within reach":
      return "?";
    case "out of reach":
      return "–";
    case undefined:
      return "";
  }
}

const eventsOf = ({ of, cells }: CoverageRow): Html =>
  html`<div>
    <dt>${sanitizeLine(of, 40)}</dt>
    <dd>
      ${cells
        .map((cell) => `${sanitizeLine(cell.kind, 40)} ${cell.state === "seen" ? String(cell.looked) : "not seen"}`)
        .join(", ")}
    </dd>
  </div>`;

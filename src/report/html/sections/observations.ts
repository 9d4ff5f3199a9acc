import { clauseOf, isClauseId } from "../../../spec/clauses.ts";
import { sanitizeLine } from "../../../base/sanitize.ts";
import { formatCount } from "../../../base/text.ts";
import type { Report, ReportFinding } from "../../model/report.ts";
import { findingAnchor } from "../anchors.ts";
import { prose, tableOf } from "../elements.ts";
import { type Html, html } from "../markup.ts";

/** What the target does where the document is silent: never judged, and worth knowing. */
export function observationsPart({ findings }: Report): Html {
  const observed = findings.filter(({ outcome }) => outcome === "observed");
  if (observed.length === 0) return html``;
  const rows = observed.map(
    (finding) =>
      html`<tr>
        <th scope="row" class="nowrap">${linkTo(finding)}</th>
        <td>${prose(sentenceOf(finding.clause))}</td>
        <td>${prose(finding.reason ?? "", 900)}${whereOf(finding)}</td>
      </tr>`,
  );
  const head = ["Clause", "What the document leaves open", "What this target does"];
  return html`<section aria-labelledby="gaps">
    <h2 id="gaps">Where the document is silent</h2>
    <p>Observed and recorded, never judged: ${formatCount(observed.length, "observation")}.</p>
    ${tableOf("Observations of gaps", head, rows, "wordy")}
  </section>`;
}

const linkTo = (finding: ReportFinding): Html =>
  html`<a href="#${findingAnchor(finding)}">${sanitizeLine(finding.clause, 40)}</a>`;

const whereOf = ({ instance }: ReportFinding): Html | false =>
  instance !== undefined && html` <span class="instance">${sanitizeLine(instance, 60)}</span>`;

const sentenceOf = (clause: string): string => (isClauseId(clause) ? clauseOf(clause).says : "");

/** Names that tell only whether an optional field is there. */
const dullReadings = new Set(["absent", "present"]);

/** Which of the admissible readings the target follows, and which it might have followed. */
export function readingsPart({ findings }: Report): Html {
  const byClause = Map.groupBy(
    findings.filter(({ reading }) => reading !== undefined),
    ({ clause }) => clause,
  );
  if (byClause.size === 0) return html``;
  const isDull = (members: readonly ReportFinding[]): boolean =>
    members.every(({ reading = "" }) => dullReadings.has(reading));
  const telling = [...byClause].filter(([, members]) => !isDull(members));
  const dull = [...byClause].filter(([, members]) => isDull(members));
  return html`<section aria-labelledby="readings">
    <h2 id="readings">Readings followed</h2>
    <p>Where the words of the document allow more than one behaviour, the target follows one of them throughout.</p>
    ${telling.length > 0 && readingsTable("Readings followed", telling)}
    ${
      dull.length > 0 &&
      html`<details>
        <summary>
          Optional fields: ${formatCount(dull.length, "reading")} that tell only whether a field is there
        </summary>
        ${readingsTable("Optional fields", dull)}
      </details>`
    }
  </section>`;
}

const readingsTable = (
  name: string,
  entries: readonly (readonly [clause: string, findings: readonly ReportFinding[]])[],
): Html => tableOf(name, ["Clause", "Sentence", "Reading followed", "Also allowed"], entries.map(readingRow), "wordy");

function readingRow([clause, members]: readonly [string, readonly ReportFinding[]]): Html {
  const [first] = members;
  const followed = [...new Set(members.map(({ reading = "" }) => reading))];
  const known: Readonly<Record<string, string>> = isClauseId(clause) ? (clauseOf(clause).readings ?? {}) : {};
  const described = (name: string): string =>
    Object.hasOwn(known, name) ? `\`${name}\`: ${known[name] ?? ""}` : `\`${name}\``;
  const others = Object.keys(known).filter((name) => !followed.includes(name));
  return html`<tr>
    <th scope="row" class="nowrap">${first === undefined ? clause : linkTo(first)}</th>
    <td>${prose(sentenceOf(clause))}</td>
    <td>${prose(followed.map(described).join("; "))}</td>
    <td class="muted">${prose(others.map(described).join("; "))}</td>
  </tr>`;
}

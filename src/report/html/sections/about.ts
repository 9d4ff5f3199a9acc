import { sanitizeLine } from "../../../base/sanitize.ts";
import { formatCount } from "../../../base/text.ts";
import { duration } from "../../../base/duration.ts";
import { type CreatedResource, createdKinds, type Report } from "../../model/report.ts";
import { findingAnchor } from "../anchors.ts";
import { numberHead, prose, tableOf } from "../elements.ts";
import { type Html, html } from "../markup.ts";
import { type SkippedGroup, skippedByCause } from "../../model/fix-first.ts";

/** What was skipped, by what would enable it or else by why. */
export function skippedPart(report: Report): Html {
  const causes = skippedByCause(report);
  const [needs, reasons] = [causes.filter(({ isNeed }) => isNeed), causes.filter(({ isNeed }) => !isNeed)];
  const { unselected } = report;
  if (causes.length === 0 && unselected.length === 0) return html``;
  return html`<section aria-labelledby="skipped">
    <h2 id="skipped">Not exercised</h2>
    ${needs.length > 0 && causesTable("What would enable it", needs)}
    ${reasons.length > 0 && causesTable("Why, where nothing in the target file would enable it", reasons)}
    ${
      unselected.length > 0 &&
      html`<p>
        Left out by the selection, ${formatCount(unselected.length, "must clause")}:
        ${sanitizeLine(unselected.join(", "), 4000)}.
      </p>`
    }
  </section>`;
}

const causesTable = (head: string, causes: readonly SkippedGroup[]): Html =>
  tableOf(head, [head, numberHead("Checks"), "Clauses"], causes.map(causeRow), "wordy");

function causeRow({ text, findings }: SkippedGroup): Html {
  const byClause = new Map(findings.map((each) => [each.clause, each]));
  const links = [...byClause.values()].map(
    (each, at) =>
      html`${at > 0 && ", "}<a class="nowrap" href="#${findingAnchor(each)}">${sanitizeLine(each.clause, 60)}</a>`,
  );
  return html`<tr>
    <th scope="row">${prose(text)}</th>
    <td class="number">${findings.length}</td>
    <td>${links}</td>
  </tr>`;
}

/** What the run made on the target and could not take away again. */
export function createdPart({ created }: Report): Html {
  if (created.length === 0) return html``;
  const kinds = createdKinds.flatMap((kind) => {
    const count = created.filter((each) => each.kind === kind).length;
    return count === 0 ? [] : [formatCount(count, kind)];
  });
  const head = ["Kind", "Id", "Made with key", "At", "Shown by"];
  return html`<section aria-labelledby="created">
    <h2 id="created">Left on the target</h2>
    <p>
      The interface has no operation that deletes, so ${kinds.join(", ")} stay${created.length === 1 ? "s" : ""} there.
    </p>
    <details>
      <summary>All of them</summary>
      ${tableOf("Left on the target", head, created.map(createdRow))}
    </details>
  </section>`;
}

const createdRow = ({ kind, id, key, at, exchange }: CreatedResource): Html =>
  html`<tr>
    <th scope="row">${kind}</th>
    <td>${id === null ? "not shown by the answer" : html`<code>${sanitizeLine(id, 120)}</code>`}</td>
    <td>${key === null ? "none" : sanitizeLine(key, 80)}</td>
    <td class="nowrap">${sanitizeLine(at, 40)}</td>
    <td>${sanitizeLine(exchange, 120)}</td>
  </tr>`;

/** What was judged, by what, and when: enough to tell two reports apart and to say which sentences they were judged by. */
export function aboutPart({ suite, target, started, finished, durationMs, waitedMs }: Report): Html {
  const tiers = Object.entries(target.tiers).map(([key, tier]) => (key === tier ? key : `${key} (${tier})`));
  const facts: [string, string][] = [
    ["Target", `${target.name}, ${target.baseUrl}`],
    ["Fingerprint of the deployment", target.fingerprint],
    ["Keys by tier", tiers.length === 0 ? "none" : tiers.join(", ")],
    ...Object.entries(target.roles ?? {}).map(([role, who]): [string, string] => [`Agent that is ${role}`, who]),
    ["Started", started],
    [
      "Finished",
      `${finished}, after ${duration(durationMs)}${waitedMs >= 1000 ? `, ${duration(waitedMs)} of it waiting` : ""}`,
    ],
    ["Suite", `agent-hosting-conformance ${suite.version}`],
    ["Hash of the clauses", suite.clauses],
  ];
  return html`<section aria-labelledby="about">
    <h2 id="about">About this report</h2>
    <dl class="facts">
      ${facts.map(
        ([name, value]) =>
          html`<div>
            <dt>${name}</dt>
            <dd>${sanitizeLine(value, 400)}</dd>
          </div>`,
      )}
    </dl>
  </section>`;
}

import { verdictTexts } from "../../html/sections/verdict.ts";
import { formatNumber } from "../../../base/numbers.ts";
import { findingKey, findingName, clauseSentence } from "../../model/finding-text.ts";
import { outcomeBadge, prose, renderTable } from "../../html/elements.ts";
import { type Html, html } from "../../html/markup.ts";
import { isBroken, isExercised } from "../../model/report.ts";
import type { FlakyCheck } from "../gate/flaky.ts";
import type { Night } from "../night.ts";
import { formatDate } from "./charts.ts";
import type { PairsOfNights } from "../pairs-of-nights.ts";
import type { TrendEvent } from "./events.ts";
import type { OpenFailure } from "../open-failures.ts";

const dayElement = (iso: string): Html => html`<time datetime="${iso}" class="nowrap">${formatDate(iso)}</time>`;

/** A table with a row for each event, and the night on which it began. */
export const eventsTable = (events: readonly TrendEvent[]): Html =>
  renderTable(
    "What changed",
    ["first bad night", "what", "reported", "over"],
    events.map(
      ({ kind, reported, since, says, over }) =>
        html`<tr>
          <th scope="row">${dayElement(since)}</th>
          <td class="says">${kindBadge(kind)} ${prose(says)}</td>
          <td>${dayElement(reported)}</td>
          <td class="tight">
            ${over === null ? (kind === "faster" || kind === "requirements" ? "" : "not yet") : dayElement(over)}
          </td>
        </tr>`,
    ),
  );

const badgeTones = {
  regression: "fail",
  slower: "fail",
  "also slower": "warning",
  faster: "pass",
  requirements: "observed",
} as const;
const kindBadge = (kind: TrendEvent["kind"]): Html => html`<span class="badge ${badgeTones[kind]}">${kind}</span>`;

/** A table with a row for each open failure, and its first night. */
export const failuresTable = (failures: readonly OpenFailure[]): Html =>
  renderTable(
    "Broken on the last night",
    ["check", "outcome", "first bad night", "nights", "clause and actual result"],
    failures.map(
      ({ finding, since, nights, isOlder }) =>
        html`<tr>
          <th scope="row">${findingName(finding)}</th>
          <td>${outcomeBadge(finding.outcome)}</td>
          <td>${isOlder ? html`<span class="nowrap">before ${dayElement(since)}</span>` : dayElement(since)}</td>
          <td class="tight">${nights}</td>
          <td class="says">
            ${prose(clauseSentence(finding.clause) || finding.clause)}
            ${finding.actual === undefined ? null : html`<br /><span class="muted">${prose(finding.actual, 200)}</span>`}
          </td>
        </tr>`,
    ),
  );

const maxStripNights = 30;

/** A table of the flaky checks. Each row has a strip with a mark for each of the last nights. */
export const flakyTable = (flaky: readonly FlakyCheck[], nights: readonly Night[]): Html =>
  renderTable(
    "Flaky checks",
    ["check", "changed", "broken on", `the last ${Math.min(maxStripNights, nights.length)} nights`],
    flaky.map(
      (each) =>
        html`<tr>
          <th scope="row">${findingName(each)}</th>
          <td class="tight">${each.flips} times</td>
          <td class="tight">${each.broken} of ${each.nights} nights</td>
          <td>${nightStrip(each, nights.slice(-maxStripNights))}</td>
        </tr>`,
    ),
  );

/** Draws a mark for each night: a dot if the check passed, a cross if it failed, a line if it was not judged. */
function nightStrip(flaky: FlakyCheck, nights: readonly Night[]): Html {
  const key = findingKey(flaky);
  const marks = nights.map(({ findings }, at) => {
    const found = findings.find((finding) => findingKey(finding) === key);
    const x = 8 + 16 * at;
    if (found === undefined || !isExercised(found)) return html`<path class="none" d="M${x - 4} 9h8" />`;
    return isBroken(found)
      ? html`<path class="broken" d="M${x - 5} 4l10 10m0-10l-10 10" />`
      : html`<circle class="held" cx="${x}" cy="9" r="4" />`;
  });
  const says = `Broken on ${flaky.broken} of the last ${flaky.nights} nights that judged it`;
  return html`<svg class="strip" role="img" aria-label="${says}" viewBox="0 0 ${16 * maxStripNights} 18">
    ${marks}
  </svg>`;
}

/** A table with a row for each night. `linkOf` returns the address of the night's report; `null` if there is none. */
export const nightsTable = (nights: readonly Night[], linkOf: (night: Night) => string | null): Html =>
  renderTable(
    "Nights",
    ["night", "verdict", "passed", "failed", "warnings", "skipped", "requests", "load runs", "reported"],
    nights.map((night) => {
      const { started, verdict, totals, requests, load, second, reported } = night;
      const link = linkOf(night);
      const name = html`${dayElement(started)} <span class="muted">${started.slice(11, 16)}</span>`;
      const changes =
        reported.regressions.length + new Set(reported.changes.map(({ scenario, tier }) => `${scenario} ${tier}`)).size;
      return html`<tr>
        <th scope="row" class="nowrap">${link === null ? name : html`<a href="${link}">${name}</a>`}</th>
        <td>${verdictBadge(verdict)}</td>
        <td class="number">${totals.pass}</td>
        <td class="number">${totals.fail}</td>
        <td class="number">${totals.warning}</td>
        <td class="number">${totals.skipped}</td>
        <td class="number">${formatNumber(requests)}</td>
        <td class="number">${load.length + second.length}</td>
        <td class="number">${changes === 0 ? "" : changes}</td>
      </tr>`;
    }),
  );

/** A table with a row for each night that recorded its pairs of request properties, newest first. */
export const pairsTable = ({ nights, total }: PairsOfNights): Html =>
  renderTable(
    "Pairs of properties",
    ["night", "seed", "pairs", "new", "all nights so far"],
    nights
      .toReversed()
      .slice(0, maxPairRows)
      .map(
        ({ started, seed, seen, added, union }) =>
          html`<tr>
            <th scope="row" class="nowrap">
              ${dayElement(started)} <span class="muted">${started.slice(11, 16)}</span>
            </th>
            <td class="number">${seed ?? ""}</td>
            <td class="number">${formatNumber(seen)}</td>
            <td class="number">${added === 0 ? "" : formatNumber(added)}</td>
            <td class="number">${formatNumber(union)} (${formatNumber(wholePercent(union, total))} %)</td>
          </tr>`,
      ),
  );

const maxPairRows = 30;

/** Returns a share in whole percent. Rounds down, so that only the full total is 100 %. */
export const wholePercent = (part: number, total: number): number => Math.floor((100 * part) / Math.max(1, total));

const verdictBadge = (verdict: Night["verdict"]): Html =>
  html`<span class="badge ${verdictTexts[verdict].tone}">${verdict}</span>`;

import { countsIn } from "../../../spec/clause.ts";
import { findingKey, type FindingId, findingName, clauseSentence } from "../../model/finding-text.ts";
import { groupByTrial, formatShifts } from "../summary.ts";
import { type Night, trialIdText } from "../night.ts";
import { verdictTexts } from "../../html/sections/verdict.ts";
import { formatNumber, wholePercent } from "../../../base/numbers.ts";
import { outcomeBadge, prose, renderTable } from "../../html/elements.ts";
import { type Html, html } from "../../html/markup.ts";
import { isBroken, isExercised } from "../../model/finding.ts";
import type { PairCoverageByNight } from "../pair-coverage.ts";
import type { FlakyCheck, OpenFailure } from "../finding-history.ts";
import { formatDate } from "./charts.ts";

const dayElement = (iso: string): Html => html`<time datetime="${iso}" class="nowrap">${formatDate(iso)}</time>`;

const minuteElement = (iso: string): Html => html`${dayElement(iso)} <span class="muted">${iso.slice(11, 16)}</span>`;

export const eventsTable = (events: readonly TrendEvent[]): Html =>
  renderTable(
    "What changed",
    ["first bad night", ["what", "says"], "reported", ["over", "tight"]],
    events.map(({ kind, reported, since, says, over }) => [
      dayElement(since),
      html`${kindBadge(kind)} ${prose(says)}`,
      dayElement(reported),
      over === null ? (kind === "faster" || kind === "requirements" ? "" : "not yet") : dayElement(over),
    ]),
  );

const badgeTones = {
  regression: "fail",
  slower: "fail",
  "also slower": "warning",
  faster: "pass",
  requirements: "observed",
} as const;
const kindBadge = (kind: TrendEvent["kind"]): Html => html`<span class="badge ${badgeTones[kind]}">${kind}</span>`;

export const failuresTable = (failures: readonly OpenFailure[]): Html =>
  renderTable(
    "Broken on the last night",
    ["check", "outcome", "first bad night", ["nights", "tight"], ["clause and actual result", "says"]],
    failures.map(({ finding, since, nights, isOlder }) => [
      findingName(finding),
      outcomeBadge(finding.outcome),
      isOlder ? html`<span class="nowrap">before ${dayElement(since)}</span>` : dayElement(since),
      nights,
      html`${prose(clauseSentence(finding.clause) || finding.clause)}
      ${finding.actual !== undefined && html`<br /><span class="muted">${prose(finding.actual, 200)}</span>`}`,
    ]),
  );

const maxStripNights = 30;

export const flakyTable = (flaky: readonly FlakyCheck[], nights: readonly Night[]): Html =>
  renderTable(
    "Flaky checks",
    [
      "check",
      ["changed", "tight"],
      ["broken on", "tight"],
      `the last ${Math.min(maxStripNights, nights.length)} nights`,
    ],
    flaky.map((each) => [
      findingName(each),
      `${each.flips} times`,
      `${each.broken} of ${each.nights} nights`,
      nightStrip(each, nights.slice(-maxStripNights)),
    ]),
  );

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

const nightNumbers = ["passed", "failed", "warnings", "skipped", "requests", "load runs", "reported"].map(
  (head) => [head, "number"] as const,
);

export const nightsTable = (nights: readonly Night[], linkOf: (night: Night) => string | null): Html =>
  renderTable(
    "Nights",
    [["night", "nowrap"], "verdict", ...nightNumbers],
    nights.map((night) => {
      const { started, verdict, totals, requests, load, second, reported } = night;
      const link = linkOf(night);
      const name = minuteElement(started);
      const changes = reported.regressions.length + groupByTrial(reported.changes).length;
      return [
        link === null ? name : html`<a href="${link}">${name}</a>`,
        html`<span class="badge ${verdictTexts[verdict].tone}">${verdict}</span>`,
        totals.pass,
        totals.fail,
        totals.warning,
        totals.skipped,
        formatNumber(requests),
        load.length + second.length,
        changes === 0 ? "" : changes,
      ];
    }),
  );

export const pairsTable = ({ nights, total }: PairCoverageByNight): Html =>
  renderTable(
    "Pairs of properties",
    [["night", "nowrap"], ...["seed", "pairs", "new", "all nights so far"].map((head) => [head, "number"] as const)],
    nights
      .toReversed()
      .slice(0, maxPairRows)
      .map(({ started, seed, seen, added, union }) => [
        minuteElement(started),
        seed ?? "",
        formatNumber(seen),
        added === 0 ? "" : formatNumber(added),
        `${formatNumber(union)} (${formatNumber(wholePercent(union, total))} %)`,
      ]),
  );

const maxPairRows = 30;

/** A change in a history of nightly runs, such as a regression or a lasting change of latency. */
export interface TrendEvent {
  readonly kind: "regression" | "slower" | "also slower" | "faster" | "requirements";
  readonly reported: string;
  /** Start of the first night with the change, ISO 8601. A change of latency can be reported some nights later. */
  readonly since: string;
  readonly says: string;
  /** Start of the night that ended a regression or slow-down; `null` if none did, and for the other kinds. */
  readonly over: string | null;
}

export function trendEvents(nights: readonly Night[]): TrendEvent[] {
  return nights
    .flatMap(({ started, suite, reported }, at): TrendEvent[] => {
      const after = nights.slice(at + 1);
      const changes = groupByTrial(reported.changes).map((group): TrendEvent => {
        const [{ direction, isKnown, ...name }] = group;
        const isOver = ({ reported: later }: Night): boolean =>
          later.changes.some((each) => each.direction === "faster" && trialIdText(each) === trialIdText(name));
        return {
          kind: direction === "faster" ? "faster" : isKnown ? "also slower" : "slower",
          reported: started,
          since: group.map(({ since }) => since).toSorted()[0] ?? started,
          says: formatShifts(group),
          over: direction === "faster" ? null : (after.find(isOver)?.started ?? null),
        };
      });
      const regressions = reported.regressions.map(({ says, check, instance }): TrendEvent => ({
        kind: "regression",
        reported: started,
        since: started,
        says,
        over: check === null ? null : nightOfFix(after, { check, instance }),
      }));
      return [...requirementsChange(started, nights[at - 1]?.suite, suite), ...regressions, ...changes];
    })
    .toReversed();
}

function requirementsChange(
  started: string,
  before: Night["suite"] | undefined,
  { requirements }: Night["suite"],
): TrendEvent[] {
  if (before === undefined || before.requirements === requirements) return [];
  const later = countsIn(before.requirements, requirements) ? requirements : before.requirements;
  const says = `judged by requirement set ${requirements}, before by ${before.requirements}: a difference in a check of ${later} is a change of the requirements, not of the target`;
  return [{ kind: "requirements", reported: started, since: started, says, over: null }];
}

function nightOfFix(nights: readonly Night[], fixed: FindingId): string | null {
  const key = findingKey(fixed);
  const holds = ({ findings }: Night): boolean =>
    findings.some((each) => findingKey(each) === key && isExercised(each) && !isBroken(each));
  return nights.find(holds)?.started ?? null;
}

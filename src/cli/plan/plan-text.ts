import type { KeyRow, PlanRow } from "../../app/plan/plan-rows.ts";
import type { ChecksShortOfTime, PlannedPairCounts, PlannedPairs, RunPlan } from "../../app/plan/run-plan.ts";
import type { SkipGroup, OpenQuestion } from "../../app/plan/skipped-checks.ts";
import {
  createPaint,
  displayWidth,
  formatCount,
  formatLabelled,
  joinFirst,
  padToWidth,
  type Paint,
} from "../../base/text.ts";
import { formatDuration } from "../../base/duration.ts";
import { formatNumber, wholePercent } from "../../base/numbers.ts";
import { sanitizeDeep, sanitizeLine } from "../../base/sanitize.ts";
import type { CreatedObjects, Stage } from "../../run/probe.ts";
import { joinBlocks, type TerminalSettings } from "../../report/terminal/section-lines.ts";

/** Names of the stages of a run. `published` is the name in `plan --json`, which must never change: programs read it. */
const stageNames: Readonly<Record<Stage, { readonly published: string; readonly title: string }>> = {
  opening: { published: "first", title: "first" },
  shared: { published: "shared", title: "At the same time, within the limits of the main key" },
  "agent time": { published: "timed", title: "After those, requests that keep agents busy" },
  exclusive: { published: "alone", title: "After those, one at a time for each key" },
  concurrency: { published: "slots", title: "Then, one at a time for each key: these hold concurrency slots" },
  limits: { published: "limits", title: "One at a time for each key: these exhaust its limits, or try invalid keys" },
  coverage: { published: "visits", title: "Then, cases that no other probe has covered" },
  "next month": { published: "next month", title: "Then, in the next month of the test clock" },
  review: { published: "afterwards", title: "After all requests: these review what was recorded" },
};

export function planText(given: FormattedPlan, { colour, width }: TerminalSettings): string {
  const plan = sanitizeDeep(given);
  const paint = createPaint(colour);
  return joinBlocks([
    [`Plan for ${sanitizeLine(plan.target.name, 80)} · ${plan.target.baseUrl} · nothing was sent`],
    discoveryLines(plan, width, paint),
    roleLines(plan, width, paint),
    ...Object.entries(stageNames).map(([stage, { title }]) =>
      stageLines(
        plan.probes.filter((row) => row.stage === stage),
        title,
        width,
        paint,
      ),
    ),
    keyLines(plan.keys, paint),
    creationLines(plan, width, paint),
    skippedLines(plan.skipped, width, paint),
    pairsLines(plan.pairs, width, paint),
    unknownLines(plan, width, paint),
    totalLines(plan, width, paint),
  ]);
}

function discoveryLines({ look }: FormattedPlan, width: number, paint: Paint): string[] {
  return [
    `${paint.bold("Discovery")}, with the main key \`${look.key}\`: ${formatCount(look.requests, "request")} that count`,
    ...formatLabelled("       ", look.sends.join(", "), width, paint.dim),
    "",
    paint.dim("  requests that count, what is sent → the checks that rest on it"),
  ];
}

function roleLines({ roles }: FormattedPlan, width: number, paint: Paint): string[] {
  const rows = Object.entries(roles);
  if (rows.length === 0) return [];
  return [
    paint.bold("Roles"),
    ...rows.flatMap(([role, who]) => formatLabelled(`  ${role.padEnd(20)}`, sanitizeLine(who, 400), width, paint.dim)),
  ];
}

function stageLines(rows: readonly PlanRow[], title: string, width: number, paint: Paint): string[] {
  if (rows.length === 0) return [];
  return [
    paint.bold(title),
    ...rows.flatMap((row) => formatLabelled(`${String(row.requests).padStart(5)}  `, rowText(row), width, paint.bold)),
  ];
}

function rowText({ probe, tier, keys: [, ...others], waitSeconds, creates, checks }: PlanRow): string {
  const creations = creationsText(creates);
  const facts = [
    ...(others.length === 0 ? [] : [`also with the key ${others.join(", ")}`]),
    ...(waitSeconds > 0 ? [`up to ${formatDuration(waitSeconds * 1000)} pass`] : []),
    ...(creations === "" ? [] : [`creates ${creations}`]),
  ];
  const instance = tier === null ? "" : ` (tier ${sanitizeLine(tier, 40)})`;
  const notes = facts.length === 0 ? "" : `; ${facts.join("; ")}`;
  return `${probe}${instance}${notes} → ${joinFirst(checks, 4)}`;
}

const creationsText = ({ webhooks = 0, alerts = 0, operations = 0 }: CreatedObjects): string =>
  [
    ...(webhooks > 0 ? [formatCount(webhooks, "webhook")] : []),
    ...(alerts > 0 ? [formatCount(alerts, "alert")] : []),
    ...(operations > 0 ? [formatCount(operations, "operation")] : []),
  ].join(", ");

function keyLines(keys: readonly KeyRow[], paint: Paint): string[] {
  const cells = keys.map(({ key, tier, isTierKnown, requests, waitSeconds }) => [
    sanitizeLine(key, 40),
    isTierKnown ? (tier ?? "") : "not known, as free",
    formatCount(requests, "request"),
    waitSeconds === 0 ? "no waiting" : `up to ${formatDuration(waitSeconds * 1000)} of waiting`,
  ]);
  const widths = [0, 1, 2].map((at) => Math.max(...cells.map((row) => displayWidth(row[at] ?? ""))));
  return [
    paint.bold("By key"),
    ...cells.map((row) => `  ${row.map((cell, at) => padToWidth(cell, widths[at] ?? 0)).join("  ")}`.trimEnd()),
  ];
}

function creationLines({ creates, probes }: FormattedPlan, width: number, paint: Paint): string[] {
  const creations = creationsText(creates);
  if (creations === "") return [`${paint.bold("Created on the target")}: nothing`];
  const makers = probes.filter((row) => creationsText(row.creates) !== "");
  return [
    `${paint.bold("Created on the target")}, and left there (the interface has no operation that deletes): ${creations}`,
    ...makers.flatMap(({ probe, creates: own }) =>
      formatLabelled("       ", `${probe}: ${creationsText(own)}`, width, paint.dim),
    ),
  ];
}

const maxIds = 6;

function skippedLines(groups: readonly SkipGroup[], width: number, paint: Paint): string[] {
  if (groups.length === 0) return [];
  const all = new Set(groups.flatMap(({ checks }) => checks));
  return [
    `${paint.bold("Skipped")}: ${formatCount(all.size, "check")}. What would enable them:`,
    ...groups.flatMap(({ enabledBy, checks, needingMore }) => {
      const more = needingMore.length === 0 ? "" : `; ${needingMore.length} of them need something else as well`;
      const text = `${enabledBy} → ${joinFirst(checks, maxIds)} (${formatCount(checks.length, "check")}${more})`;
      return formatLabelled(`${String(checks.length).padStart(5)}  `, text, width, paint.bold);
    }),
  ];
}

function pairsLines(pairs: FormattedPlan["pairs"], width: number, paint: Paint): string[] {
  if (pairs === null) return [];
  const { triples, isMinimum, seed } = pairs;
  const [atLeast, upTo] = isMinimum ? ["at least ", "up to "] : ["", ""];
  const counts = ({ covered, total }: PlannedPairCounts): string =>
    `${covered < total ? atLeast : ""}${formatNumber(covered)} of ${formatNumber(total)} (${percent(covered, total)})`;
  const ofTriples = triples === null ? "" : `; of endpoint, key and state: ${counts(triples)}`;
  return [
    `${paint.bold("Pairs of properties")} that requests combine: ${counts(pairs)}${ofTriples}; seed ${seed}`,
    ...cutRows(pairs).flatMap(({ needs, shares }) =>
      formatLabelled("       ", `${needs} → ${upTo}${shares.join(", ")}`, width, paint.dim),
    ),
  ];
}

function cutRows(pairs: PlannedPairs): { readonly needs: string; readonly shares: readonly string[] }[] {
  const sharesOf = (what: string, { cut, total }: PlannedPairCounts) =>
    cut.map((each) => ({
      needs: each.needs,
      share: `${formatCount(each.pairs, what)} (${percent(each.pairs, total)})`,
    }));
  const { triples } = pairs;
  const all = [...sharesOf("pair", pairs), ...(triples === null ? [] : sharesOf("triple", triples))];
  return [...Map.groupBy(all, ({ needs }) => needs)].map(([needs, rows]) => ({
    needs,
    shares: rows.map(({ share }) => share),
  }));
}

const percent = (part: number, total: number): string => `${wholePercent(part, total)} %`;

function unknownLines({ unknown, ifTierShown }: FormattedPlan, width: number, paint: Paint): string[] {
  const tiers = ifTierShown.map(
    ({ tier, requests, waitSeconds }) =>
      `If the headers show ${tier}: ${formatCount(requests, "request")} more, and up to ${formatDuration(waitSeconds * 1000)} for windows to pass.`,
  );
  return [
    paint.bold("Known only once something is sent"),
    ...[...unknown, ...tiers].flatMap((text) => formatLabelled("       ", text, width, paint.dim)),
  ];
}

function totalLines(
  { totals, probes, target, bounds, shortOfTime }: FormattedPlan,
  width: number,
  paint: Paint,
): string[] {
  const { requests, executions, waitSeconds, checks } = totals;
  const waits = target.movesClock
    ? "no waiting, because the target's clock is moved"
    : waitSeconds === 0
      ? "no waiting"
      : `about ${formatDuration(waitSeconds * 1000)} of waiting`;
  const notes = [
    ...(bounds.maxRequests !== null && requests > bounds.maxRequests
      ? [`More than --max-requests ${bounds.maxRequests} allows: later requests are skipped.`]
      : []),
    ...(bounds.maxExecutions !== null && executions > bounds.maxExecutions
      ? [`More than --max-executions ${bounds.maxExecutions} allows: later requests are skipped.`]
      : []),
    ...(shortOfTime === null ? [] : [shortOfTimeText(shortOfTime, bounds.maxWaitMs)]),
    ...(target.movesClock
      ? []
      : ["Waits, and what is skipped for them, are an estimate: the target's answers decide."]),
  ];
  const sum = `${formatCount(probes.length, "probe")} for ${formatCount(checks, "check")}, ${formatCount(requests, "request")}, about ${formatCount(executions, "agent execution")}, ${waits}`;
  return [
    ...formatLabelled("Total  ", sum, width, paint.bold),
    ...notes.flatMap((text) => formatLabelled("       ", text, width, paint.dim)),
  ];
}

function shortOfTimeText({ checks, enoughMinutes }: ChecksShortOfTime, maxWaitMs: number): string {
  const allowed = `--max-wait allows ${formatDuration(maxWaitMs)}, which leaves ${formatCount(checks.length, "check")} without the time for some tier or altogether`;
  const enough =
    enoughMinutes === null ? "a day would not be enough for these" : `--max-wait ${enoughMinutes}m is enough for these`;
  return `${allowed}; ${enough}.`;
}

export interface FormattedPlan extends Omit<RunPlan, "unknown"> {
  readonly unknown: readonly string[];
}

export const toFormattedPlan = (plan: RunPlan): FormattedPlan => ({ ...plan, unknown: plan.unknown.map(questionText) });

export const planJson = (plan: FormattedPlan): string =>
  JSON.stringify(
    {
      ...plan,
      probes: plan.probes.map(({ probe, stage, ...row }) => ({ probe, lane: stageNames[stage].published, ...row })),
    },
    null,
    2,
  );

function questionText(question: OpenQuestion): string {
  switch (question.kind) {
    case "which agent":
      return "Which agent answers, and whether it streams: the run finds one through the list; `--agent` names one.";
    case "tier of a key":
      return `The tier of the key \`${question.key}\`: until its headers show it, the run keeps to the limits of free; \`tier\` in the target file, or \`--tier\`, names it.`;
    case "reach of the receiver":
      return `Whether the target reaches the harness at ${question.listen}: if nothing arrives, checks of deliveries are skipped; \`webhooks\` in the target file, or \`--receiver-listen\`, says that it does.`;
    case "retries":
      return "How many retries of a delivery fit `--max-wait`: the whole schedule takes 2 h 36 min, and checks of retries that come later are skipped; `--watch` waits for them.";
    case "reading usage counts":
      return `Whether reading usage counts towards the limits: if it does, it fills the windows; otherwise invokes do, with up to ${question.executions} more agent executions.`;
    case "more requests":
      return "Requests refused with 429 are sent again at most twice, after a wait; requests without a valid key, and health requests, are not counted.";
  }
}

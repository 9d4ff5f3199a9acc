import { traceOf } from "../../base/errors.ts";
import { memoizeByPair } from "../../base/memoize.ts";
import type { Delivery } from "../../evidence/delivery.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import type { Probe } from "../probe.ts";
import { type Check, probesOf, type Suite, filterChecks } from "./check.ts";
import type { ProbeRunResult, ProbeRun } from "../plan/plan.ts";
import {
  type Cell,
  type Finding,
  inapplicable,
  type Observation,
  type UncoveredCells,
  type Unproven,
  unproven,
} from "./finding.ts";
import type { RequirementSet } from "../../spec/clause.ts";
import { type SkipReason, needsTierOfKey } from "../skip-reason.ts";

/** The result of a check for one tier, or for the whole target if `instance` is `null`. */
export interface Judgement {
  readonly check: Check;
  readonly suite: string;
  readonly instance: string | null;
  readonly finding: Finding | Observation | { readonly kind: "error"; readonly reason: string };
  /** Ids of the exchanges and deliveries that show the finding. */
  readonly evidenceIds: readonly string[];
}

/** Maps a probe's name to its results. A tier probe has one result for each tier. */
export type ProbeResults = ReadonlyMap<
  string,
  readonly { readonly instance: string | null; readonly result: ProbeRunResult }[]
>;

export const resultsByProbe = (runs: readonly ProbeRun[]): ProbeResults =>
  Map.groupBy(
    runs.map(({ planned: { probe, tested }, result }) => ({
      name: probe.name,
      instance: tested?.tier ?? null,
      result,
    })),
    ({ name }) => name,
  );

/** Runs every check on the evidence. The function is pure: the same evidence always gives the same results. */
export function judgeEvidence(suites: readonly Suite[], results: ProbeResults): Judgement[] {
  const judge = memoizeByPair((check: Check, instance: string | null): JudgedCheck =>
    check.widens === undefined
      ? judgeOne(check, instance, results)
      : reportIfWider(
          check,
          repeatedChecks(check).map((each) => judge(each, instance)),
          () => judgeOne(check, instance, results),
        ),
  );
  const rows = suites.flatMap(({ title, checks }) =>
    checks.flatMap((check) =>
      instancesOf(check, results).map((instance) => ({
        check,
        suite: title,
        instance,
        ...judge(check, instance),
      })),
    ),
  );
  const byClause = Map.groupBy(rows, ({ check: { clause } }) => clause);
  return rows.filter((row) => isApplicable(row) || isOnlyJudgement(row, byClause.get(row.check.clause) ?? []));
}

const isApplicable = ({ finding }: Judgement): boolean => finding.kind !== "inapplicable";

const isOnlyJudgement = (row: Judgement, ofClause: readonly Judgement[]): boolean =>
  ofClause[0] === row && !ofClause.some(isApplicable);

function instancesOf(check: Check, results: ProbeResults): (string | null)[] {
  const tierProbes = Object.values(probesOf(check.on)).filter((probe) => probe.per === "tier");
  const tiers = new Set(tierProbes.flatMap((probe) => (results.get(probe.name) ?? []).map(({ instance }) => instance)));
  return tiers.size === 0 ? [null] : [...tiers];
}

type JudgedCheck = Pick<Judgement, "finding" | "evidenceIds">;

/**
 * Judges a copy of a check that `withWidened` added. Returns `inapplicable` if the copy shows nothing new: an `earlier`
 * check failed already, or the copy finds no breach and judges no additional message.
 */
function reportIfWider(
  { clause, reportsOnlyBreaches = false }: Check,
  earlier: readonly JudgedCheck[],
  judgeWider: () => JudgedCheck,
): JudgedCheck {
  const nothing = (reason: string): JudgedCheck => ({ finding: inapplicable(reason), evidenceIds: [] });
  if (earlier.some(({ finding }) => isBroken(finding))) return nothing(`${clause} is broken already`);
  const wider = judgeWider();
  if (isBroken(wider.finding)) return wider;
  const cases = Math.max(...earlier.map(({ finding }) => caseCount(finding)));
  return caseCount(wider.finding) > cases && !reportsOnlyBreaches ? wider : nothing(`no other case of ${clause}`);
}

const isBroken = ({ kind }: Judgement["finding"]): boolean => kind === "breach" || kind === "error";

const repeatedChecks = ({ widens }: Check): Check[] =>
  widens === undefined ? [] : [widens, ...repeatedChecks(widens)];

const caseCount = (finding: Judgement["finding"]): number => ("seen" in finding ? (finding.seen?.looked ?? 0) : 0);

function judgeOne(check: Check, instance: string | null, results: ProbeResults): JudgedCheck {
  const gathered = gatherEvidence(check, instance, results);
  if (gathered.kind !== "evidence") return { finding: gathered, evidenceIds: [] };
  try {
    const finding = requireCoverage(check, check.judge(gathered.evidence as never), results);
    return { finding, evidenceIds: evidenceIdsOf(finding, gathered.evidence) };
  } catch (error) {
    const reason = `the check ${check.id} failed: ${traceOf(error)}`;
    return { finding: { kind: "error", reason }, evidenceIds: [] };
  }
}

/**
 * Turns a pass into `unproven` if the run reached `maxRequests` or `maxExecutions` before the coverage probe had
 * requested every cell.
 */
function requireCoverage(check: Check, finding: Finding | Observation, results: ProbeResults): Finding | Observation {
  const coverageProbe = check.matrix?.coverageProbe ?? null;
  if (coverageProbe === null || (finding.kind !== "holds" && finding.kind !== "follows")) return finding;
  const { unseen = [] } = finding.seen ?? {};
  const result = resultFor(coverageProbe, null, results);
  const uncovered: (SkipReason & Partial<Cell>)[] =
    result.kind === "skipped" ? [result] : result.kind === "ran" ? uncoveredIn(result.evidence) : [];
  const overBudget = uncovered.find(
    ({ reason, of, kind }) =>
      typeof reason !== "string" &&
      (reason.why === "requests used up" || reason.why === "executions used up") &&
      unseen.some((cell) => of === undefined || (cell.of === of && cell.kind === kind)),
  );
  return overBudget === undefined
    ? finding
    : { ...unproven(overBudget.reason, overBudget.needs), ...(finding.seen && { seen: finding.seen }) };
}

const uncoveredIn = (evidence: unknown): (SkipReason & Cell)[] =>
  (evidence as UncoveredCells).left.map(({ why, ...cell }) => ({ ...cell, ...why }));

type GatheredEvidence =
  | { readonly kind: "evidence"; readonly evidence: unknown }
  | Unproven
  | { readonly kind: "error"; readonly reason: string };

function gatherEvidence(check: Check, instance: string | null, results: ProbeResults): GatheredEvidence {
  const evidence: Record<string, unknown> = {};
  for (const [name, probe] of Object.entries(probesOf(check.on))) {
    const result = resultFor(probe, instance, results);
    if (result.kind === "skipped") return unproven(result.reason, result.needs);
    if (result.kind === "broken") return { kind: "error", reason: `the probe "${probe.name}" failed: ${result.error}` };
    evidence[name] = evidenceForSet(probe, result.evidence, check.since);
  }
  return { kind: "evidence", evidence: "only" in evidence ? evidence["only"] : evidence };
}

const evidenceForSet = ({ narrow }: Probe, evidence: unknown, requirements: RequirementSet): unknown =>
  narrow === undefined ? evidence : narrow(evidence as never, requirements);

function resultFor(probe: Probe, instance: string | null, results: ProbeResults): ProbeRunResult {
  const all = results.get(probe.name) ?? [];
  const found = probe.per === "tier" ? all.find((each) => each.instance === instance) : all[0];
  if (found !== undefined) return found.result;
  if (probe.per === "tier") return { kind: "skipped", reason: "the tier of no key is known", needs: needsTierOfKey };
  return { kind: "skipped", reason: `the probe "${probe.name}" left no evidence`, needs: null };
}

const maxListedExchanges = 5;

function evidenceIdsOf(finding: Finding | Observation, evidence: unknown): string[] {
  if (finding.kind === "breach" || finding.kind === "noted") {
    if (finding.at.length > 0) return finding.at.map(({ id }) => id);
  } else if (finding.kind !== "observed" && finding.kind !== "follows") return [];
  const found: string[] = [];
  collectIds(evidence, found);
  return found;
}

function collectIds(value: unknown, found: string[]): void {
  if (typeof value !== "object" || value === null || found.length >= maxListedExchanges) return;
  if (isExchange(value) || isDelivery(value)) {
    found.push(value.id);
    return;
  }
  // Skips rate-limit samples, which have `headClockMs`. They contain no exchanges, and there may be thousands.
  if (!("headClockMs" in value)) for (const each of Object.values(value)) collectIds(each, found);
}

export const isDelivery = (value: object): value is Delivery =>
  "request" in value && "reply" in value && "hook" in value;

export const isExchange = (value: object): value is Exchange =>
  "request" in value && "answer" in value && "sentMs" in value;

/** Runs the checks that use the evidence of an ended probe. Returns the first breach that must stop the run. */
export function breachShownBy(
  { planned: { probe: ended } }: ProbeRun,
  done: readonly ProbeRun[],
  { suites, stopsAt }: { readonly suites: readonly Suite[]; readonly stopsAt: (judgement: Judgement) => boolean },
): Judgement | null {
  if (ended.stage === "review") return null;
  const concerned = filterChecks(suites, ({ on }) => {
    const probes = Object.values(probesOf(on));
    return probes.includes(ended) && !probes.some((each) => each.per === "target" && each.isJudgedLater === true);
  });
  const judgements = judgeEvidence(concerned, resultsByProbe(done));
  return judgements.find((each) => each.finding.kind === "breach" && stopsAt(each)) ?? null;
}

import type { EndpointName } from "../../../spec/endpoints.ts";
import type { RejectedKeyKind } from "../../../spec/rejected-key-kinds.ts";
import type { JudgedId, ReadingOf } from "../../../spec/clauses.ts";
import type { Check, CheckOptions, EvidenceOf, Probes } from "../../../run/judge/check.ts";
import { type Finding, holds, type Unproven, unproven } from "../../../run/judge/finding.ts";
import type { Probe } from "../../../run/probe.ts";
import { checkEvery } from "../../../run/judge/check-every.ts";
import { codeOf, describeStatus, hasStatus, isInconclusive, isSuccess, outcomeOf } from "../response.ts";
import { type AllExchanges, endpointsWithControl } from "../all-exchanges.ts";
import type { KeyTrial, KeyTrials } from "./send-trials.ts";
import { keyMatrix, keyExpectations } from "./expectations.ts";

/** What a cell shows: `open` that it tells nothing. */
export type TrialVerdict = "right" | "wrong" | "open";

/** Whether a key was let in. A stream that opens may still refuse in its first event. */
function isLetIn({ kind, endpoint, exchange }: KeyTrial): boolean {
  const { expects } = keyExpectations[kind];
  if (!isSuccess(exchange) || exchange.answer.kind !== "answered") return false;
  if (endpoint !== "stream" || expects.status === 401) return true;
  return exchange.answer.events.some(({ name }) => name === "chunk" || name === "done");
}

export function judgeTrial(cell: KeyTrial, proven: ReadonlySet<EndpointName>): TrialVerdict {
  const { expects } = keyExpectations[cell.kind];
  if (isInconclusive(cell.exchange)) return "open";
  if (isLetIn(cell)) return "wrong";
  if (expects.status === "no success") return proven.has(cell.endpoint) ? "right" : "open";
  if (!hasStatus(cell.exchange, expects.status)) return proven.has(cell.endpoint) ? "wrong" : "open";
  const code = codeOf(cell.exchange);
  // The code itself tells that it is for the key; without one, only the same request with a good key does.
  if (expects.code === "EXPIRED_API_KEY" && code !== null) return code === expects.code ? "right" : "wrong";
  if (!proven.has(cell.endpoint) || (expects.code !== null && code === null)) return "open";
  return expects.code === null || code === expects.code ? "right" : "wrong";
}

/** A cell and what it shows. */
export interface JudgedTrial {
  readonly trial: KeyTrial;
  readonly verdict: TrialVerdict;
}

export const judgeTrialsBy = (cells: readonly KeyTrial[], verdict: (cell: KeyTrial) => TrialVerdict): JudgedTrial[] =>
  cells.map((trial) => ({ trial, verdict: verdict(trial) }));

/** What cells show where these endpoints let a good key in. */
export const judgeTrials = (cells: readonly KeyTrial[], proven: ReadonlySet<EndpointName>): JudgedTrial[] =>
  judgeTrialsBy(cells, (cell) => judgeTrial(cell, proven));

interface KeyCheckOptions<E, R extends string> extends CheckOptions {
  readonly kinds: readonly RejectedKeyKind[];
  readonly expected: (evidence: E) => string;
  /** The cells that the clause speaks of. */
  readonly judged: (evidence: E) => readonly JudgedTrial[];
  /** What else has to be so, besides that no cell is wrong; `null` where it is. */
  readonly alsoRequire?: (evidence: E, right: readonly KeyTrial[]) => Finding<R> | null;
  /** Why no cell shows anything, where that is not for the requests themselves. */
  readonly whenEmpty?: (evidence: E) => Unproven | null;
}

/** A check of what comes of kinds of keys: broken where one request is, and proven where one shows it. */
export const checkKeys = <const K extends JudgedId, const P extends Probe | Probes>(
  clause: K,
  on: P,
  { kinds, expected, judged, alsoRequire, whenEmpty, ...options }: KeyCheckOptions<EvidenceOf<P>, ReadingOf<K>>,
): Check =>
  checkEvery(clause, on, {
    ...options,
    matrix: keyMatrix(kinds),
    noun: "requests",
    members: (evidence) =>
      judged(evidence).map((each) => ({
        cell: { of: each.trial.endpoint, kind: each.trial.kind },
        proof: each.trial.exchange,
        subject: { ...each, expected: expected(evidence) },
      })),
    judge: ({ trial, verdict, expected: wanted }) => {
      if (verdict === "open") return undefined;
      return verdict === "right" ? null : { expected: wanted, actual: `${trial.kind} on ${cellSaid(trial)}` };
    },
    summarize: (broken) => brokenSaid(broken.map(({ trial }) => trial)),
    judgeAcross: (right, evidence) =>
      alsoRequire?.(
        evidence,
        right.map(({ trial }) => trial),
      ) ?? holds(),
    whenEmpty: (evidence) =>
      whenEmpty?.(evidence) ??
      alsoRequire?.(evidence, []) ??
      explainNoVerdict(judged(evidence).map(({ trial }) => trial)),
  });

/** So many broken cells are named. */
const mostNamed = 8;

/** All broken cells: "an expired key on list (200), usage (200); …". */
function brokenSaid(broken: readonly KeyTrial[]): string {
  const named = broken.slice(0, mostNamed);
  const rest = broken.length > named.length ? `, and ${broken.length - named.length} more` : "";
  const said = [...Map.groupBy(named, ({ kind }) => kind)].map(
    ([kind, cells]) => `${kind} on ${cells.map(cellSaid).join(", ")}`,
  );
  return `${said.join("; ")}${rest}`;
}

const cellSaid = ({ endpoint, exchange }: KeyTrial): string =>
  `${endpoint} (${isSuccess(exchange) ? outcomeOf(exchange) : describeStatus(exchange)})`;

export function explainNoVerdict(open: readonly KeyTrial[]): Unproven {
  const limited = open.some(({ exchange }) => hasStatus(exchange, 429));
  if (limited) return unproven("the requests met a 429 before any other answer", "an address that is not limited");
  const [first] = open;
  return first === undefined
    ? unproven("no endpoint could be asked")
    : unproven(`no endpoint let a good key in, so that a refusal proves nothing (${cellSaid(first)})`);
}

/** Endpoints that let such keys in: what comes there with others tells nothing more. */
export const acceptingEndpoints = (cells: readonly KeyTrial[]): ReadonlySet<EndpointName> =>
  new Set(cells.filter(isLetIn).map(({ endpoint }) => endpoint));

/** All that was sent, with a wrong key's cells. */
export interface TrialContext {
  readonly strangers: KeyTrials;
  readonly all: AllExchanges;
}

/**
 * What a kind of key shows wherever a wrong key is not let in: what lets any key in is AUTH-3's and AUTH-8's.
 *
 * @param excused endpoints on which another clause is broken
 */
export function judgeWhereWrongKeyRejected(
  { cells }: KeyTrials,
  { strangers, all }: TrialContext,
  excused: ReadonlySet<EndpointName> = new Set(),
): JudgedTrial[] {
  const open = acceptingEndpoints(strangers.cells.filter(({ kind }) => kind === "a wrong key"));
  return judgeTrials(
    cells.filter(({ endpoint }) => !open.has(endpoint) && !excused.has(endpoint)),
    endpointsWithControl(all),
  );
}

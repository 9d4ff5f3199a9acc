import type { Row } from "../../base/covering-array.ts";
import { getPath } from "../../base/json.ts";
import { median } from "../../base/statistics/samples.ts";
import { bodyJson, type Exchange } from "../../evidence/exchange.ts";
import { listedAgents, unknownAgentId } from "../../run/discovery/discover-target.ts";
import { hasFewRequests } from "../../run/plan/needs.ts";
import { probe, type ProbeContext, probeDeadlineMs } from "../../run/probe.ts";
import type { Client } from "../../run/send/client.ts";
import type { PendingExchange } from "../../wire/transport.ts";
import { type Enabler, need, RequestBudgetExhausted, SkipError } from "../../run/skip-reason.ts";
import { minuteOverMs } from "../../rules/limits/key-history.ts";
import { dimensions, type KeyState } from "../../spec/dimensions.ts";
import type { Target, TargetKey } from "../../target/target.ts";
import { createCostWatcher } from "../limits/cost-probe.ts";
import { useExpiryMs } from "../limits/timed-retry.ts";
import { type Fixtures, prepareFixtures, knownFixtures } from "../shared/key-requests/send-requests.ts";
import { hasStatus, isSuccess } from "../shared/response.ts";
import { rowsOfExchange } from "./observed.ts";
import { passTimeBetween, chooseRows, inSendingOrder, maxExecutions, maxValid, runsAgent } from "./choose.ts";
import { countPairs, needsOfLeftOut, needForUnanswered, type PairCounts } from "./count-pairs.ts";
import { reachOf, rowsInState } from "./plan.ts";
import { derivedKeyKinds, isRejectedKeyKind, keyForUrl, keyOfKind } from "./missing-settings.ts";
import { credentialsOf, type RequestParts, requestOfRow, withQuery } from "./requests.ts";

/** A generated request: its chosen values (`row`) and its exchange. */
export interface GeneratedRequest {
  readonly row: Row;
  readonly exchange: Exchange;
}

export interface PairCoverage extends PairCounts {
  readonly generated: readonly GeneratedRequest[];
  readonly rejecting: readonly { readonly endpoint: string; readonly key: string }[];
  /** For each endpoint, the values that occurred in successful requests, e.g. `temperature=2`. */
  readonly accepted: Readonly<Record<string, readonly string[]>>;
  /** Seed with which the requests were generated. Absent in older evidence. */
  readonly seed?: number;
}

/** Approximate cost with a test clock. `requests` count toward the main key's limits, `executions` run an agent. */
const costWithTestClock = { requests: 290, executions: 80 } as const;
/** After this many 429s, sends invalid keys only after a minute on the test clock; without a test clock, not at all. */
const maxLimited = 2;
/** After this many successes with e.g. expired keys, sends no more of them: each success may have run an agent. */
const maxForbiddenRuns = 2;
const maxAgentMs = 60_000;
/** Sends no generated request after this time, so that the last response arrives before the probe's deadline. */
const maxSendingMs = probeDeadlineMs - maxAgentMs;
const fasterTarget = "a target that responds sooner: the time for generated requests was over";

/** Generates and sends requests for pairs of values that no earlier request had, e.g. `endpoint=list key=wrong`. */
export const pairRequestsSent = probe(
  "requests are sent for the pairs of properties that no other request has",
  {
    requests: (target) =>
      target.clock === null ? (hasFewRequests(target) ? 0 : maxValid) : costWithTestClock.requests,
    executions: (target) =>
      target.clock === null ? (hasFewRequests(target) ? 0 : maxExecutions) : costWithTestClock.executions,
    reads: true,
    stage: "coverage",
    since: "1.1",
    mayDropRequests: true,
    countsRequests: true,
  },
  async (context): Promise<PairCoverage> => {
    const { client, target, readOnly, recorder, time, coverageSeed: seed } = context;
    const timeLeftMs = startTimer(time, maxSendingMs);
    const reach = reachOf(target, readOnly);
    const { covering } = reach;
    const reader = {
      target,
      mainKey: client.key.key,
      listed: listedOf(context),
      listedAgents: new Set(listedAgents([context.discovery.listing, ...recorder.exchangesSinceOutage()])),
    };
    const covered = new Set<string>();
    const answered: Row[] = [];
    const rejecting = new Map<string, PairCoverage["rejecting"][number]>();
    const accepted = new Map<string, Set<string>>();
    const add = (row: Row, exchange: Exchange): void => {
      if (!isAnswered(exchange)) return;
      answered.push(row);
      for (const name of covering.pairsIn(row)) covered.add(name);
      const { endpoint = "", key = "" } = row;
      if (isSuccess(exchange)) {
        const values = accepted.get(endpoint) ?? new Set<string>();
        for (const [name, value] of Object.entries(row)) values.add(`${name}=${value}`);
        accepted.set(endpoint, values);
      }
      if (hasStatus(exchange, 401) && !hasOtherMistake(row)) rejecting.set(`${endpoint} ${key}`, { endpoint, key });
    };
    const known: Row[] = [];
    for (const exchange of recorder.exchangesOutsideOutages())
      for (const row of rowsOfExchange(exchange, reader)) {
        add(row, exchange);
        known.push(row);
      }
    const chosen = chooseRows({ target, reach, covered, known, seed });
    if (time.canAdvance && chosen.sent.length > 0)
      await time.passTime(useExpiryMs, "the keys must have their allowance back");
    const parts = requestPartsOf(context, await prepareFixtures(context, "of-corners"));
    const tested = context.limitTests();
    const unanswered = new Map<Row, Enabler | null>(needsOfLeftOut(chosen, target, tested));
    const leaveOut = (row: Row, needs: Enabler): unknown => unanswered.set(row, needs);
    const sending = { leftMs: timeLeftMs(), perRequestMs: typicalMs(recorder.exchangesOutsideOutages()) };
    const newPairsIn = (row: Row): number => covering.pairsIn(row).filter((name) => !covered.has(name)).length;
    const inOrder = inSendingOrder(chosen.sent, sending, newPairsIn);
    const generated = await sendRows(inOrder, context, parts, { onSent: add, leaveOut, timeLeftMs });
    return {
      generated,
      rejecting: [...rejecting.values()],
      accepted: Object.fromEntries([...accepted].map(([endpoint, values]) => [endpoint, [...values]])),
      seed,
      ...countPairs({ target, readOnly, reach, answered, covered, unanswered, tested }),
    };
  },
);

/** Starts a timer, and returns a function that returns the remaining ms. Waits, e.g. for a rate limit, do not count. */
function startTimer({ now, waitedMs }: ProbeContext["time"], forMs: number): () => number {
  const endMs = now() - waitedMs() + forMs;
  return () => endMs - (now() - waitedMs());
}

const typicalMs = (exchanges: readonly Exchange[]): number =>
  median(exchanges.filter(isAnswered).map(({ sentMs, answer }) => answer.endMs - sentMs));

const isRefusedBody = (body: string | undefined): boolean => dimensions.body.refused.some((each) => each === body);

/** Whether a request has a mistake apart from its key: an unknown agent or an invalid body. */
export const hasOtherMistake = ({ agent, body }: Row): boolean => agent === "unknown" || isRefusedBody(body);

const isAnswered = ({ answer }: Exchange): boolean => answer.kind === "answered";

function listedOf({ discovery }: ProbeContext): number | null {
  const total = getPath(bodyJson(discovery.listing), "pagination", "total");
  return typeof total === "number" && Number.isInteger(total) && total >= 0 ? total : null;
}

const requestPartsOf = (context: ProbeContext, fixtures: Fixtures): RequestParts => ({
  target: context.target,
  fixtures,
  unknownAgent: unknownAgentId(context),
  listed: listedOf(context),
});

interface RowEvents {
  readonly onSent: (row: Row, exchange: Exchange) => void;
  readonly leaveOut: (row: Row, needs: Enabler) => void;
  readonly timeLeftMs: () => number;
}

async function sendRows(
  rows: readonly Row[],
  context: ProbeContext,
  parts: RequestParts,
  { onSent, leaveOut, timeLeftMs }: RowEvents,
): Promise<GeneratedRequest[]> {
  const generated: GeneratedRequest[] = [];
  const forbiddenRuns = new Map<string, number>();
  let limited = 0;
  const passBefore = passTimeBetween(context.time);
  const costs = createCostWatcher(context);
  const send = async (row: Row): Promise<void> => {
    const exchange = await sendRow(row, context, parts);
    if (exchange === null) {
      leaveOut(row, need("receiver"));
      return;
    }
    if (!isAnswered(exchange)) leaveOut(row, needForUnanswered);
    if (isRejectedKeyKind(row["key"] ?? "") && hasStatus(exchange, 429)) limited += 1;
    if (isSuccess(exchange))
      for (const name of forbiddenValuesOf(row)) forbiddenRuns.set(name, (forbiddenRuns.get(name) ?? 0) + 1);
    generated.push({ row, exchange });
    onSent(row, exchange);
    costs.note(exchange, () => sendRow(row, context, parts));
  };
  let spent: Enabler | null = null;
  for (const row of rows) {
    const isForbidden = forbiddenValuesOf(row).some((name) => (forbiddenRuns.get(name) ?? 0) >= maxForbiddenRuns);
    if (timeLeftMs() <= 0) spent ??= fasterTarget;
    if (spent !== null || isForbidden) {
      leaveOut(row, spent ?? "a target that refuses such requests");
      continue;
    }
    await passBefore(row);
    if (isRejectedKeyKind(row["key"] ?? "") && limited >= maxLimited) {
      if (!(await passMinuteIfClock(context.time))) {
        leaveOut(row, need("clock"));
        continue;
      }
      limited = 0;
    }
    try {
      await send(row);
    } catch (error) {
      if (!(error instanceof SkipError)) throw error;
      const needs = error.skipReason.needs ?? needForUnanswered;
      if (error instanceof RequestBudgetExhausted) spent = needs;
      leaveOut(row, needs);
    }
  }
  await costs.repeatSuspects();
  return generated;
}

const forbiddenValuesOf = ({ endpoint = "", method, key = "", body = "" }: Row): string[] =>
  (endpoint === "invoke" || endpoint === "stream") && method === "documented"
    ? [
        ...(isRejectedKeyKind(key) ? [`${endpoint} key=${key}`] : []),
        ...(isRefusedBody(body) ? [`${endpoint} body=${body}`] : []),
      ]
    : [];

async function passMinuteIfClock(time: ProbeContext["time"]): Promise<boolean> {
  if (time.canAdvance) await time.passTime(minuteOverMs, "the client's address is limited");
  return time.canAdvance;
}

async function sendRow(
  row: Row,
  { client, target, time }: ProbeContext,
  parts: RequestParts,
): Promise<Exchange | null> {
  const request = requestOfRow(row, parts);
  const own = clientOf(row["key"] ?? "", client, target);
  if (request === null || own === null) return null;
  const { query, ...credentials } = credentialsOf(row["key"] ?? "", own.key.key);
  const isUnpaced = isRejectedKeyKind(row["key"] ?? "") && target.clock === null;
  const sent = own.send(request.method, withQuery(request.path, query), {
    ...request.options,
    ...credentials,
    ...(isUnpaced ? { unpaced: true } : {}),
  });
  return runsAgent(row) ? time.awaitAgent(sent, maxAgentMs) : sent;
}

function clientOf(kind: string, client: Client, target: Target): Client | null {
  if (derivedKeyKinds.includes(kind) && kind !== "in the query") return client;
  const key = kind === "in the query" ? keyForUrl(target) : keyOfKind(kind, target);
  return key === null ? null : client.as(key);
}

interface ExhaustedKey {
  readonly key: TargetKey;
  readonly kind: string;
  readonly state: KeyState;
}

export function requestsInState(context: ProbeContext, { key, kind, state }: ExhaustedKey): (() => PendingExchange)[] {
  const own = context.client.as(key).since("1.1");
  const parts = requestPartsOf(context, knownFixtures(context.target));
  return rowsInState(context.target, { key: kind, state, seed: context.coverageSeed }).flatMap((row) => {
    const request = requestOfRow(row, parts);
    if (request === null) return [];
    const options = { ...request.options, unpaced: true, keyState: state };
    return [() => own.open(request.method, request.path, options)];
  });
}

export async function sendRequestsInState(context: ProbeContext, used: ExhaustedKey): Promise<void> {
  for (const open of requestsInState(context, used)) await open().finished;
}

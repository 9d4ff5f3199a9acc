import { isDeepStrictEqual } from "node:util";
import { getPath } from "../../base/json.ts";
import { memoizeByObject } from "../../base/memoize.ts";
import { decodedSegment } from "../../base/http.ts";
import { type Delivery, deliveryJson } from "../../evidence/delivery.ts";
import { type Exchange, sentJson } from "../../evidence/exchange.ts";
import { agentInPath, type AllExchanges, exchangesOf } from "../shared/all-exchanges.ts";
import { maxDurationMsBy } from "../shared/durations.ts";
import { fieldsOf, isSuccess } from "../shared/response.ts";
import { type AllDeliveries, eventsOfType } from "../deliveries/events.ts";
import { type Check, checkEvery, type EvidenceOf, type ProbesByName } from "../../run/judge/check.ts";
import type { Finding, Proof } from "../../run/judge/finding.ts";
import type { Probe } from "../../run/probe.ts";
import type { Mismatch } from "../../rules/bodies/errors.ts";
import type { JudgedId, ReadingOf } from "../../spec/clauses.ts";
import type { RequirementSet } from "../../spec/clause.ts";
import { emptyMatrix } from "../shared/cases.ts";

/**
 * Two messages of a run that report the same fact, such as a response and a delivery. `first` is `null` if the exchange
 * `second` contains both values, e.g. its `max_tokens` and its `usage`.
 */
export interface ComparedPair {
  readonly first: Proof | null;
  readonly second: Proof;
}

interface RelationOptions<E, T extends ComparedPair, R extends string> {
  readonly as?: string;
  readonly since?: RequirementSet;
  readonly also?: readonly Probe[];
  readonly between: string;
  readonly pairs: (evidence: E) => readonly T[];
  /** Returns how two messages contradict each other; `null` if they agree, `undefined` if they prove nothing. */
  readonly judge: (pair: T) => Mismatch | null | undefined;
  readonly otherwise: Finding<R> | ((evidence: E) => Finding<R>);
}

const comparedPairs = "pairs compared";

export const pairCheck = <const K extends JudgedId, const P extends Probe | ProbesByName, T extends ComparedPair>(
  clause: K,
  on: P,
  { as, since = "1.1", also = [], between, pairs, judge, otherwise }: RelationOptions<EvidenceOf<P>, T, ReadingOf<K>>,
): Check =>
  checkEvery(clause, on, {
    ...(as !== undefined && { as }),
    since,
    also,
    matrix: emptyMatrix(`every pair of the run: ${between}`),
    noun: "pairs",
    members: (evidence: EvidenceOf<P>) =>
      pairs(evidence).map((pair) => ({
        cell: { of: comparedPairs, kind: between },
        proof: pair.second,
        ...(pair.first !== null && { comparedWith: pair.first }),
        subject: pair,
      })),
    judge,
    whenEmpty: otherwise,
  });

export interface ReportedExecution extends ComparedPair {
  readonly first: Exchange;
  readonly second: Delivery;
  readonly tookMs: number;
}

export const invokeFields = (exchange: Exchange): unknown => fieldsOf(exchange, ["result", "usage", "metadata"]);

export const requestIdOf = (exchange: Exchange): unknown => getPath(invokeFields(exchange), "metadata", "request_id");

export const deliveryData = (delivery: Delivery, name: string): unknown =>
  getPath(deliveryJson(delivery), "data", name);

/** Returns the deliveries of `agent.completed` and `agent.failed`, whose data the document defines. */
export const endedExecutions = ({ deliveries }: AllDeliveries): Delivery[] => [
  ...eventsOfType(deliveries, "agent.completed"),
  ...eventsOfType(deliveries, "agent.failed"),
];

/** Pairs deliveries with the requests that they report, by a UUID in the query, or else by request id. */
export const reportedExecutions = memoizeByObject((all: AllExchanges) =>
  memoizeByObject((arrived: AllDeliveries): readonly ReportedExecution[] => {
    const tookMs = maxDurationMsBy(all);
    const calls = agentCallsOf(all);
    const byMark = uniqueBy(calls, markerOf);
    const byId = haveUniqueIds(calls) && hadNoOutage(all) ? uniqueBy(calls, requestIdOf) : new Map<unknown, Exchange>();
    return endedExecutions(arrived).flatMap((second) => {
      const first = byMark.get(markerIn(second, byMark)) ?? byId.get(deliveryData(second, "request_id"));
      return first !== undefined && canReport(second, first) ? [{ first, second, tookMs: tookMs(first) }] : [];
    });
  }),
);

/** Whether the run had no outage. After an outage, a restarted server may give out the same request ids again. */
const hadNoOutage = ({ returnsMs = [] }: AllExchanges): boolean => returnsMs.length === 0;

const agentCallsOf = (all: AllExchanges): Exchange[] =>
  (["invoke", "stream"] as const).flatMap((endpoint) => exchangesOf(all, endpoint));

function haveUniqueIds(calls: readonly Exchange[]): boolean {
  const ids = calls.filter(isSuccess).flatMap((each) => requestIdOf(each) ?? []);
  return new Set(ids).size === ids.length;
}

const uuidPattern = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

function markerOf({ request }: Exchange): string | undefined {
  const query = getPath(sentJson(request), "query");
  return typeof query === "string" ? query.match(uuidPattern)?.[0] : undefined;
}

function markerIn(delivery: Delivery, known: ReadonlyMap<unknown, Exchange>): string | undefined {
  const found = new Set(JSON.stringify(deliveryData(delivery, "input") ?? null).match(uuidPattern));
  const [first, ...others] = [...found].filter((each) => known.has(each));
  return others.length === 0 ? first : undefined;
}

function uniqueBy(exchanges: readonly Exchange[], valueOf: (exchange: Exchange) => unknown): Map<unknown, Exchange> {
  const known = exchanges.filter((each) => valueOf(each) !== undefined);
  const groups = Map.groupBy(known, valueOf);
  return new Map(
    [...groups].flatMap(([value, [only, ...others]]) => (only && others.length === 0 ? [[value, only]] : [])),
  );
}

function canReport(delivery: Delivery, exchange: Exchange): boolean {
  const segment = agentInPath(exchange);
  const [agent, query] = [
    getPath(deliveryJson(delivery), "agent_id"),
    getPath(deliveryData(delivery, "input"), "query"),
  ];
  const sent = getPath(sentJson(exchange.request), "query");
  return (
    (typeof agent !== "string" || segment === null || agent === decodedSegment(segment)) &&
    (query === undefined || query === sent) &&
    delivery.receivedMs >= exchange.sentMs
  );
}

export function isSameExecution(one: Delivery, other: Delivery): boolean {
  const [id, input] = [deliveryData(one, "request_id"), deliveryData(one, "input")];
  return (
    typeof id === "string" &&
    id === deliveryData(other, "request_id") &&
    getPath(deliveryJson(one), "agent_id") === getPath(deliveryJson(other), "agent_id") &&
    isDeepStrictEqual(input, deliveryData(other, "input"))
  );
}

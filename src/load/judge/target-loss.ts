import { is2xx, isGatewayStatus, isKeyRefusal } from "../../base/http.ts";
import { type LoadEvidence, type LoadSample, type SecondCounts } from "../../evidence/load-evidence.ts";
import { gatewayOutages, type ResponseCounts } from "../../rules/gateway.ts";
import { rateHeaderKeys } from "../../spec/headers.ts";
import type { ResponseHeadCounts } from "../second-counts.ts";

/** A crash, a gateway's errors or a revoked key during the load. From `atMs` on, responses prove nothing. */
export interface TargetLoss {
  readonly atMs: number;
  readonly reason: string;
}

/**
 * A request that failed up to this many ms before `aliveMs` belongs to the outage. The harness sets `aliveMs` some ms
 * after the target has accepted a connection.
 */
const aliveToleranceMs = 250;

/** Finds the first loss of the target. Later responses prove nothing, e.g. because a restart reset the counts. */
export function targetLossIn(evidence: LoadEvidence): TargetLoss | null {
  const losses = [outageLoss(evidence), gatewayLoss(evidence), keyLoss(evidence)].filter((loss) => loss !== null);
  return losses.toSorted((one, other) => one.atMs - other.atMs)[0] ?? null;
}

function outageLoss({ outage, requests, streams }: LoadEvidence): TargetLoss | null {
  if (outage === undefined) return null;
  const broken = [...requests.filter(isUnanswered), ...streams.filter(({ ending }) => ending === "cut")];
  const endsMs = broken.map(({ endMs }) => endMs).filter((endMs) => endMs > outage.aliveMs - aliveToleranceMs);
  return { atMs: endsMs.reduce((first, ms) => Math.min(first, ms), outage.failedMs), reason: describeOutage(outage) };
}

function gatewayLoss(evidence: LoadEvidence): TargetLoss | null {
  const span = gatewaySpan(evidence);
  if (span === null) return null;
  const { fromMs, toMs } = span;
  return {
    atMs: fromMs,
    reason: `a gateway responded in place of the target from ${timeText(fromMs)} to ${timeText(toMs)}`,
  };
}

const keyLoss = ({ keyRefused }: LoadEvidence): TargetLoss | null =>
  keyRefused === undefined
    ? null
    : {
        atMs: keyRefused.fromMs,
        reason: `the target refused the key \`${keyRefused.key}\` from ${timeText(keyRefused.fromMs)} on, though it had accepted it`,
      };

const isUnanswered = ({ status, left }: LoadSample): boolean => status === null && !left;

export const evidenceBefore = ({ atMs }: TargetLoss, evidence: LoadEvidence): LoadEvidence => ({
  ...evidence,
  requests: evidence.requests
    .filter(({ sentMs }) => sentMs <= atMs)
    .map((each) => withoutResponse(atMs, each, evidence)),
  summary: evidence.summary
    .filter(({ firstSentMs }) => firstSentMs <= atMs)
    .map((each) => withUnansweredSecond(atMs, each)),
  streams: evidence.streams.filter(
    ({ endMs, ending, status }) =>
      endMs < atMs || (ending !== "cut" && !(evidence.keyRefused !== undefined && isKeyRefusal(status))),
  ),
  ledger: null,
  deliveries: null,
});

/**
 * Marks a request as `left` (the client disconnected) if the loss of the target spoiled its response: for example, a
 * gateway responded, or the body broke off. No judge then blames the target for this response.
 */
function withoutResponse(atMs: number, sample: LoadSample, { keyRefused }: LoadEvidence): LoadSample {
  const isOfKey = keyRefused?.key === sample.key && isKeyRefusal(sample.status) && sample.headMs >= keyRefused.fromMs;
  if (isOfKey || isGatewayLike(sample)) return { ...sample, status: null, left: true, flaws: null };
  const isBroken = sample.endMs >= atMs && sample.flaws === null && sample.tokens === null;
  return isBroken ? { ...sample, left: true } : sample;
}

/** Counts all requests of a second as unanswered if one ended at `atMs` or later. The counts do not tell which one. */
function withUnansweredSecond(atMs: number, counts: SecondCounts): SecondCounts {
  if (counts.lastEndMs < atMs) return counts;
  const unanswered = counts.admitted + counts.refused + counts.failed + counts.unanswered;
  return { ...counts, admitted: 0, refused: 0, failed: 0, unanswered, tokens: 0, heads: [], bodies: [] };
}

const hasHeaders = (sample: LoadSample): boolean =>
  sample.malformed !== undefined || rateHeaderKeys.some((name) => sample[name] !== null);

/** Whether a response looks like a gateway's response: a typical status, e.g. 502, and no rate-limit headers. */
const isGatewayLike = (sample: LoadSample): boolean => isGatewayStatus(sample.status) && !hasHeaders(sample);

const areGatewayLike = ({ status, answered, lacking, malformed }: ResponseHeadCounts): boolean =>
  isGatewayStatus(status) && lacking === answered && malformed === 0;

function gatewaySpan({ requests, summary, server }: LoadEvidence): { fromMs: number; toMs: number } | null {
  if (server !== null) return null;
  const spells = gatewayOutages([...requests.flatMap(countsOfSample), ...summary.map(countsOfSecond)]) ?? [];
  const [first, last] = [spells[0], spells.at(-1)];
  return first === undefined || last === undefined ? null : { fromMs: first.fromMs, toMs: last.toMs };
}

function countsOfSample(sample: LoadSample): ResponseCounts[] {
  if (sample.status === null) return [];
  const gatewayLike = Number(isGatewayLike(sample));
  const { sentMs, headMs } = sample;
  return [{ sentMs, fromMs: headMs, toMs: headMs, gatewayLike, others: 1 - gatewayLike }];
}

function countsOfSecond({ heads, admitted, refused, failed, firstSentMs, lastEndMs }: SecondCounts): ResponseCounts {
  const gatewayLike = heads.filter(areGatewayLike).reduce((sum, { answered }) => sum + answered, 0);
  const others = admitted + refused + failed - gatewayLike;
  return { sentMs: firstSentMs, fromMs: firstSentMs, toMs: lastEndMs, gatewayLike, others };
}

/** A key that worked at first and then got 401 or 403 until the end, as if the key had been revoked. */
export type KeyRefusal = NonNullable<LoadEvidence["keyRefused"]>;

/** Finds a key that got only 401 or 403 after its last success. The caller must confirm this with a health request. */
export function keyRefusalIn({ requests, summary }: LoadEvidence): KeyRefusal | null {
  const uses = [...requests.map(useOfSample), ...summary.map(useOfSecond)];
  const found = [...Map.groupBy(uses, ({ key }) => key)].flatMap(([key, those]): KeyRefusal[] => {
    const fromMs = refusedSinceMs(those);
    return fromMs === null ? [] : [{ key, fromMs }];
  });
  return found.toSorted((one, other) => one.fromMs - other.fromMs)[0] ?? null;
}

interface KeyUse {
  readonly key: string;
  /** Sending time of a request with a 2xx response; otherwise `null`. Only a 2xx proves that the key was valid. */
  readonly admittedMs: number | null;
  readonly refusedMs: number | null;
}

const useOfSample = ({ key, status, sentMs, headMs }: LoadSample): KeyUse => ({
  key,
  admittedMs: is2xx(status) ? sentMs : null,
  refusedMs: isKeyRefusal(status) ? headMs : null,
});

const useOfSecond = ({ key, heads, admitted, firstSentMs, lastEndMs }: SecondCounts): KeyUse => ({
  key,
  admittedMs: admitted > 0 ? firstSentMs : null,
  refusedMs: heads.some(({ status }) => isKeyRefusal(status)) ? lastEndMs : null,
});

function refusedSinceMs(uses: readonly KeyUse[]): number | null {
  const admittedMs = uses.reduce((last, use) => Math.max(last, use.admittedMs ?? -Infinity), -Infinity);
  if (admittedMs === -Infinity) return null;
  const refused = uses.flatMap(({ refusedMs }) => (refusedMs === null || refusedMs < admittedMs ? [] : [refusedMs]));
  return refused.length === 0 ? null : refused.reduce((first, ms) => Math.min(first, ms), Infinity);
}

/** A period in which the target accepted no connection. */
export type LoadOutage = NonNullable<LoadEvidence["outage"]>;

const timeText = (ms: number): string => `${new Date(ms).toISOString().slice(11, 19)} UTC`;

export const describeOutage = ({ failedMs, backMs }: LoadOutage): string =>
  backMs === null
    ? `the target died: it has accepted no connection since ${timeText(failedMs)}`
    : `the target was away from ${timeText(failedMs)} to ${timeText(backMs)}`;

import type { LoadEvidence, LoadSample, SecondCounts } from "../../evidence/load-evidence.ts";
import { describeOutage, timeText } from "../outage.ts";
import { isKeyRefusal } from "../refused-key.ts";
import { gatewaySpan, isGatewayLike } from "./gateway.ts";

/**
 * The time at which the target became unreachable or began to refuse a key, by the clock of the evidence, and the
 * reason.
 */
export interface TargetLoss {
  readonly atMs: number;
  readonly reason: string;
}

/**
 * Allowance in ms for the difference between the clocks of two processes, and for the delay until a broken connection
 * is noticed.
 */
const noticeMs = 250;

/**
 * Finds when the load first lost its target: the target accepted no connection, a gateway responded in the target's
 * place, or the target refused a key for good. Returns `null` if none of these happened. Later responses prove nothing,
 * even if the target came back, because a restarted server may have forgotten its counts.
 */
export function targetLossIn(evidence: LoadEvidence): TargetLoss | null {
  const losses = [outageLoss(evidence), gatewayLoss(evidence), keyLoss(evidence)].filter((loss) => loss !== null);
  return losses.toSorted((one, other) => one.atMs - other.atMs)[0] ?? null;
}

/** Dates the outage from the first broken connection, which may be earlier than the first failed attempt to connect. */
function outageLoss({ outage, requests, streams }: LoadEvidence): TargetLoss | null {
  if (outage === undefined) return null;
  const broken = [...requests.filter(isUnanswered), ...streams.filter(({ ending }) => ending === "cut")];
  const endsMs = broken.map(({ endMs }) => endMs).filter((endMs) => endMs > outage.aliveMs - noticeMs);
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

/**
 * Returns the evidence from before a loss of the target. The usage report and the deliveries are left out, because they
 * cover the whole load.
 */
export const evidenceBefore = ({ atMs }: TargetLoss, evidence: LoadEvidence): LoadEvidence => ({
  ...evidence,
  requests: evidence.requests.filter(({ sentMs }) => sentMs <= atMs).map((each) => inFlightAt(atMs, each, evidence)),
  summary: evidence.summary.filter(({ firstSentMs }) => firstSentMs <= atMs).map((each) => uncertainAt(atMs, each)),
  streams: evidence.streams.filter(
    ({ endMs, ending, status }) =>
      endMs < atMs || (ending !== "cut" && !(evidence.keyRefused !== undefined && isKeyRefusal(status))),
  ),
  ledger: null,
  deliveries: null,
});

/** Treats a request that lost its response like a request whose client left: it may have been admitted. */
function inFlightAt(atMs: number, sample: LoadSample, { keyRefused }: LoadEvidence): LoadSample {
  const isOfKey = keyRefused?.key === sample.key && isKeyRefusal(sample.status) && sample.headMs >= keyRefused.fromMs;
  if (isOfKey || isGatewayLike(sample)) return { ...sample, status: null, left: true, flaws: null };
  const isBroken = sample.endMs >= atMs && sample.flaws === null && sample.tokens === null;
  return isBroken ? { ...sample, left: true } : sample;
}

/** Counts all requests of a second as unanswered if the loss happened in or before that second. */
function uncertainAt(atMs: number, slot: SecondCounts): SecondCounts {
  if (slot.lastEndMs < atMs) return slot;
  const unanswered = slot.admitted + slot.refused + slot.failed + slot.unanswered;
  return { ...slot, admitted: 0, refused: 0, failed: 0, unanswered, tokens: 0, heads: [], bodies: [] };
}

// Tells whether a 502, 503 or 504 came from a gateway or from the target itself.

/**
 * Numbers of gateway-like and other responses: of one response (1 and 0, or 0 and 1), or of all responses to the
 * requests of one second. All times are milliseconds of the same clock.
 */
export interface ResponseCounts {
  readonly sentMs: number;
  /** Earliest time at which a counted response can have arrived. */
  readonly fromMs: number;
  /** Latest time at which a counted response can have arrived. Equals `fromMs` for a single response. */
  readonly toMs: number;
  /** Number of 502, 503 and 504 responses that look like those of a gateway, for example without rate-limit headers. */
  readonly gatewayLike: number;
  readonly others: number;
}

/** A period in which a gateway responded to some requests instead of the target. */
interface GatewayOutage {
  readonly fromMs: number;
  toMs: number;
  gatewayLike: number;
  /** Number of responses of the target itself to requests sent within the period. */
  others: number;
}

/**
 * A {@link GatewayOutage} is over after this many consecutive responses of the target itself. The next gateway-like
 * response begins a new outage, unless {@link isNextSecond} is true.
 */
const maxOthersBetween = 20;
/**
 * A gateway sends its errors in groups. If more than this many 502, 503 and 504 responses are isolated (see
 * `isIsolated`), the target itself sent them.
 */
const maxIsolated = 3;
/** Assumed maximum duration of a rolling deployment, during which a gateway responds to some requests. */
const maxDeploymentMs = 30_000;
/**
 * A rolling deployment ends. If errors alternate with other responses during more than this share of the total time,
 * and longer than `maxDeploymentMs`, the target itself sent the errors.
 */
const minPersistentShare = 0.8;

/**
 * Returns the periods in which a gateway sent 502, 503 or 504 instead of the target. Returns `null` if the target
 * itself sent these errors.
 */
export function gatewayOutages(responses: readonly ResponseCounts[]): readonly GatewayOutage[] | null {
  const sorted = responses.toSorted((one, other) => one.toMs - other.toMs);
  const outages = findOutages(sorted);
  const isolated = outages.filter(isIsolated).reduce((sum, { gatewayLike }) => sum + gatewayLike, 0);
  const totalMs = (sorted.at(-1)?.toMs ?? 0) - (sorted[0]?.fromMs ?? 0);
  const minPersistentMs = Math.max(maxDeploymentMs, totalMs * minPersistentShare);
  const isPersistent = outages.some(({ fromMs, toMs, others }) => others > 0 && toMs - fromMs > minPersistentMs);
  return isolated > maxIsolated || isPersistent ? null : outages;
}

const isIsolated = ({ gatewayLike, others }: GatewayOutage): boolean =>
  gatewayLike === 1 || others >= gatewayLike * maxOthersBetween;

function findOutages(sorted: readonly ResponseCounts[]): GatewayOutage[] {
  const outages: GatewayOutage[] = [];
  let othersSince = 0;
  for (const each of sorted) {
    const last = outages.at(-1);
    if (each.gatewayLike === 0) {
      // Counts only responses to requests sent after the last gateway-like response. An earlier request could have
      // reached the target before the outage, so its response does not show that the target is back.
      if (last !== undefined && each.sentMs >= last.toMs) othersSince += each.others;
      continue;
    }
    if (last !== undefined && (othersSince < maxOthersBetween || isNextSecond(each, last))) {
      last.toMs = each.toMs;
      last.gatewayLike += each.gatewayLike;
      last.others += othersSince + each.others;
    } else {
      const { fromMs, toMs, gatewayLike, others } = each;
      outages.push({ fromMs, toMs, gatewayLike, others });
    }
    othersSince = 0;
  }
  return outages;
}

/**
 * Whether the counts of a second begin less than 1 s after the end of `outage`. Always `false` for a single response,
 * whose `fromMs` equals its `toMs`.
 */
const isNextSecond = ({ fromMs, toMs }: ResponseCounts, outage: GatewayOutage): boolean =>
  toMs > fromMs && fromMs - outage.toMs < 1000;

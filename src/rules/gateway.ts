// Tells whether a 502, 503 or 504 came from a gateway or from the target itself.

/**
 * Counts of gateway-like and other responses, for one request or one second. All times are milliseconds of one clock.
 */
export interface ResponseCounts {
  readonly sentMs: number;
  /** Earliest possible time at which the first of the counted responses began. */
  readonly fromMs: number;
  /** Latest possible time at which the last of the counted responses began. */
  readonly toMs: number;
  /** Number of 502, 503 and 504 responses that look like a gateway's, not like the target's. */
  readonly gatewayLike: number;
  readonly others: number;
}

export interface GatewaySpell {
  readonly fromMs: number;
  toMs: number;
  gatewayLike: number;
  /** Number of other responses to requests sent within the period. */
  others: number;
}

/** A period of gateway-like responses ends when this many responses of the target follow. */
const maxOthersBetween = 20;
/** If there are more isolated gateway-like responses than this, the target itself sent them. */
const maxIsolated = 3;
/** Assumed maximum duration of a rolling deployment. */
const maxDeploymentMs = 30_000;
/** Share of the load's duration. If 502, 503 or 504 responses last longer, the target itself sent them. */
const minWholeShare = 0.8;

/** Returns the periods in which a gateway responded for the target; `null` if the target itself did. */
export function gatewaySpells(responses: readonly ResponseCounts[]): readonly GatewaySpell[] | null {
  const sorted = responses.toSorted((one, other) => one.toMs - other.toMs);
  const spells = findSpells(sorted);
  const singles = spells.filter(isIsolated).reduce((sum, { gatewayLike }) => sum + gatewayLike, 0);
  const lastedMs = (sorted.at(-1)?.toMs ?? 0) - (sorted[0]?.fromMs ?? 0);
  const minGoingOnMs = Math.max(maxDeploymentMs, lastedMs * minWholeShare);
  const goesOn = spells.some(({ fromMs, toMs, others }) => others > 0 && toMs - fromMs > minGoingOnMs);
  return singles > maxIsolated || goesOn ? null : spells;
}

const isIsolated = ({ gatewayLike, others }: GatewaySpell): boolean =>
  gatewayLike === 1 || others >= gatewayLike * maxOthersBetween;

function findSpells(sorted: readonly ResponseCounts[]): GatewaySpell[] {
  const spells: GatewaySpell[] = [];
  let othersSince = 0;
  for (const each of sorted) {
    const last = spells.at(-1);
    if (each.gatewayLike === 0) {
      // Counts only requests sent after the last gateway-like response. Earlier requests may have preceded the outage.
      if (last !== undefined && each.sentMs >= last.toMs) othersSince += each.others;
      continue;
    }
    if (last !== undefined && (othersSince < maxOthersBetween || isNextSecond(each, last))) {
      last.toMs = each.toMs;
      last.gatewayLike += each.gatewayLike;
      last.others += othersSince + each.others;
    } else {
      const { fromMs, toMs, gatewayLike, others } = each;
      spells.push({ fromMs, toMs, gatewayLike, others });
    }
    othersSince = 0;
  }
  return spells;
}

/** Whether a second's responses begin less than 1 s after the end of `spell`. */
const isNextSecond = ({ fromMs, toMs }: ResponseCounts, spell: GatewaySpell): boolean =>
  toMs > fromMs && fromMs - spell.toMs < 1000;

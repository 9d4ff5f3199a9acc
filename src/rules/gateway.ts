// Tells whether a 502, 503 or 504 came from a gateway or from the target itself.

/** Numbers of responses to one request, or within one second. All times are milliseconds of the same clock. */
export interface ResponseCounts {
  readonly sentMs: number;
  /** No response in these counts began before this time. */
  readonly fromMs: number;
  /** None of the counted responses began after this time. */
  readonly toMs: number;
  /** Number of 502, 503 and 504 responses that look like a gateway's, not like the target's. */
  readonly gatewayLike: number;
  readonly others: number;
}

export interface GatewaySpell {
  readonly fromMs: number;
  toMs: number;
  gatewayLike: number;
  /** Number of the target's own responses to requests sent within the period. */
  others: number;
}

/** After this many other responses, a gateway-like response begins a new {@link GatewaySpell}. */
const maxOthersBetween = 20;
/** If more gateway-like responses than this are isolated (see `isIsolated`), the target itself sent them. */
const maxIsolated = 3;
/** Assumed maximum duration of a rolling deployment. */
const maxDeploymentMs = 30_000;
/**
 * Error periods longer than this share of the load come from the target. Exception: periods up to `maxDeploymentMs`.
 */
const minWholeShare = 0.8;

/**
 * Returns the periods in which a gateway sent 502, 503 or 504 instead of the target. Returns `null` if the target
 * itself sent them.
 */
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
      spells.push({ fromMs, toMs, gatewayLike, others });
    }
    othersSince = 0;
  }
  return spells;
}

/**
 * Whether these counts of a second follow directly on `spell`. Counts of a single request (`fromMs` is `toMs`) never
 * do.
 */
const isNextSecond = ({ fromMs, toMs }: ResponseCounts, spell: GatewaySpell): boolean =>
  toMs > fromMs && fromMs - spell.toMs < 1000;

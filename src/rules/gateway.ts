// While a target is unavailable, as in a rolling deployment, a gateway in front of it sends 502, 503 or 504. A target
// may also send these by itself. The functions of this file tell the two apart, in runs and under load.

/** Counts of one response, or of the responses of one second. Times are in milliseconds, by any clock. */
export interface ResponseCounts {
  /** When the first of these requests was sent. */
  readonly sentMs: number;
  /** When the first response head arrived, at the earliest. */
  readonly fromMs: number;
  /** Upper bound of the time at which the last response head arrived. */
  readonly toMs: number;
  /** Number of responses that look like a gateway's: 502, 503 or 504, with no header or field of the interface. */
  readonly gatewayLike: number;
  /** Number of all other responses. */
  readonly others: number;
}

/** A period in which gateway-like responses came close together. */
export interface GatewaySpell {
  readonly fromMs: number;
  toMs: number;
  gatewayLike: number;
  /** Number of other responses to requests that were sent within the period. */
  others: number;
}

/** A period of gateway-like responses is over if this many other responses follow. */
const maxOthersBetween = 20;
/**
 * Maximum number of isolated gateway-like responses that a gateway explains. If there are more, the target itself sent
 * them.
 */
const maxSingles = 3;
/** Assumed maximum duration of a rolling deployment. */
const maxDeploymentMs = 30_000;
/**
 * Gateway-like responses may be mixed with other responses. If such a period takes at least this share of the whole
 * time, no deployment explains it.
 */
const minWholeShare = 0.8;

/**
 * Returns the periods in which a gateway responded in place of the target. Returns `null` if the target itself sent the
 * gateway-like responses. This is so if they are isolated, or continue among other responses the whole time.
 */
export function gatewaySpells(responses: readonly ResponseCounts[]): readonly GatewaySpell[] | null {
  const sorted = responses.toSorted((one, other) => one.toMs - other.toMs);
  const spells = spellsIn(sorted);
  const singles = spells.filter(isOfSingles).reduce((sum, { gatewayLike }) => sum + gatewayLike, 0);
  const lastedMs = (sorted.at(-1)?.toMs ?? 0) - (sorted[0]?.fromMs ?? 0);
  const minGoingOnMs = Math.max(maxDeploymentMs, lastedMs * minWholeShare);
  const goesOn = spells.some(({ fromMs, toMs, others }) => others > 0 && toMs - fromMs > minGoingOnMs);
  return singles > maxSingles || goesOn ? null : spells;
}

const isOfSingles = ({ gatewayLike, others }: GatewaySpell): boolean =>
  gatewayLike === 1 || others >= gatewayLike * maxOthersBetween;

function spellsIn(sorted: readonly ResponseCounts[]): GatewaySpell[] {
  const spells: GatewaySpell[] = [];
  let othersSince = 0;
  for (const each of sorted) {
    const last = spells.at(-1);
    if (each.gatewayLike === 0) {
      // Leaves out requests that were sent earlier: they may have reached the target before it became unavailable.
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
 * Whether counts belong to the second after a period of gateway-like responses. Counts of a whole second do not show
 * the order of its responses.
 */
const isNextSecond = ({ fromMs, toMs }: ResponseCounts, spell: GatewaySpell): boolean =>
  toMs > fromMs && fromMs - spell.toMs < 1000;

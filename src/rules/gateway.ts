// A gateway in front of a target responds for it while the target is away, as in a rolling deployment. A target may
// respond in the same way for reasons of its own. Runs and loads tell the two apart by the functions of this file.

/** Counts of one response, or of the responses of one second. Times are in milliseconds, by any clock. */
export interface ResponseCounts {
  /** When the first of the requests was sent. */
  readonly sentMs: number;
  /** When the first head arrived, at the earliest. */
  readonly fromMs: number;
  /** When the last head arrived, at the latest. */
  readonly toMs: number;
  /** Responses that look like those of a gateway: by their status, and without anything of the interface. */
  readonly gatewayLike: number;
  /** All other responses. */
  readonly others: number;
}

/** A time in which gateway-like responses came close together. */
export interface GatewaySpell {
  readonly fromMs: number;
  toMs: number;
  gatewayLike: number;
  /** Other responses, to requests that were sent within the spell. */
  others: number;
}

/** A spell ends if this many other responses follow. */
const maxOthersBetween = 20;
/**
 * Maximum number of gateway-like responses that come one by one among others. More of them come from the target itself.
 */
const maxSingles = 3;
/** A rolling deployment takes at most this long. */
const maxDeploymentMs = 30_000;
/** If gateway-like responses among others fill at least this share of the whole time, they are no deployment. */
const minWholeShare = 0.8;

/**
 * The times in which a gateway responded in place of the target. `null` if the target itself sent the gateway-like
 * responses: they go on among other responses the whole time, or come one by one.
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
      // A request that was sent before the spell may have reached the target before it went away.
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

/** Whether the counts belong to the second after a spell. Within a second, the order of responses is not known. */
const isNextSecond = ({ fromMs, toMs }: ResponseCounts, spell: GatewaySpell): boolean =>
  toMs > fromMs && fromMs - spell.toMs < 1000;

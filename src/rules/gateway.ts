// A gateway in front of a target responds for it while the target is away, as in a rolling deployment. A target may respond in the same way for
// reasons of its own. Runs and loads tell the two apart by the functions of this file.

/** One response, or those of one second. Times are in milliseconds, by any clock. */
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
  readonly sound: number;
}

/** A time in which gateway-like responses came close together. */
export interface GatewaySpell {
  readonly fromMs: number;
  toMs: number;
  gatewayLike: number;
  /** Sound responses to requests that were sent within the spell. */
  sound: number;
}

/** A spell ends if this many sound responses follow. */
const maxSoundBetween = 20;
/** Gateway-like responses that a gateway may send one by one, among sound ones. A target that has more of them sends them itself. */
const maxSingles = 3;
/** A deployment is over after this time. */
const maxDeploymentMs = 30_000;
/** Share of the whole time from which gateway-like responses among sound ones are no deployment. */
const minWholeShare = 0.8;

/**
 * The times in which a gateway responded in place of the target. `null` if the target itself sent the gateway-like responses: they go on
 * among sound ones the whole time, or come one by one.
 */
export function gatewaySpells(responses: readonly ResponseCounts[]): readonly GatewaySpell[] | null {
  const sorted = responses.toSorted((one, other) => one.toMs - other.toMs);
  const spells = spellsIn(sorted);
  const singles = spells.filter(cameOneByOne).reduce((sum, { gatewayLike }) => sum + gatewayLike, 0);
  const lastedMs = (sorted.at(-1)?.toMs ?? 0) - (sorted[0]?.fromMs ?? 0);
  const minGoingOnMs = Math.max(maxDeploymentMs, lastedMs * minWholeShare);
  const goesOn = spells.some(({ fromMs, toMs, sound }) => sound > 0 && toMs - fromMs > minGoingOnMs);
  return singles > maxSingles || goesOn ? null : spells;
}

const cameOneByOne = ({ gatewayLike, sound }: GatewaySpell): boolean =>
  gatewayLike === 1 || sound >= gatewayLike * maxSoundBetween;

function spellsIn(sorted: readonly ResponseCounts[]): GatewaySpell[] {
  const spells: GatewaySpell[] = [];
  let soundSince = 0;
  for (const each of sorted) {
    const last = spells.at(-1);
    if (each.gatewayLike === 0) {
      // A request from before the spell may have reached the target before it went away.
      if (last !== undefined && each.sentMs >= last.toMs) soundSince += each.sound;
      continue;
    }
    if (last !== undefined && (soundSince < maxSoundBetween || follows(each, last))) {
      last.toMs = each.toMs;
      last.gatewayLike += each.gatewayLike;
      last.sound += soundSince + each.sound;
    } else {
      const { fromMs, toMs, gatewayLike, sound } = each;
      spells.push({ fromMs, toMs, gatewayLike, sound });
    }
    soundSince = 0;
  }
  return spells;
}

/** Whether the counts are those of the second after a spell. The order of responses within a second is not known. */
const follows = ({ fromMs, toMs }: ResponseCounts, spell: GatewaySpell): boolean =>
  toMs > fromMs && fromMs - spell.toMs < 1000;

import { is2xx } from "../base/http-status.ts";
import type { LoadEvidence, LoadSample } from "../evidence/load-evidence.ts";

/** A key that the target refused for good, as it does after revoking the key. */
export type KeyRefusal = NonNullable<LoadEvidence["keyRefused"]>;

/** Whether a status refuses a key. */
export const isKeyRefusal = (status: number | null): boolean => status === 401 || status === 403;

/**
 * Finds a key whose requests were admitted at first, and later all refused. Whether the target refuses it everywhere
 * does not follow from this: `refusedForGood` finds out by a health request.
 */
export function keyRefusalIn({ requests, summary }: LoadEvidence): KeyRefusal | null {
  const uses = [...requests.map(useOfSample), ...summary.map(useOfSecond)];
  const found = [...Map.groupBy(uses, ({ key }) => key)].flatMap(([key, those]): KeyRefusal[] => {
    const fromMs = refusedSinceMs(those);
    return fromMs === null ? [] : [{ key, fromMs }];
  });
  return found.toSorted((one, other) => one.fromMs - other.fromMs)[0] ?? null;
}

/** Use of a key in one response, or in the responses of one second. Times are epoch milliseconds. */
interface KeyUse {
  readonly key: string;
  /**
   * When an admitted request was sent; `null` if none was. A 429 does not count as admitted: after many requests with
   * wrong keys, a server may send 429 to an invalid key, too.
   */
  readonly admittedMs: number | null;
  /** When a refusal first arrived; `null` if there was none. */
  readonly refusedMs: number | null;
}

const useOfSample = ({ key, status, sentMs, headMs }: LoadSample): KeyUse => ({
  key,
  admittedMs: is2xx(status) ? sentMs : null,
  refusedMs: isKeyRefusal(status) ? headMs : null,
});

const useOfSecond = ({ key, heads, admitted, firstSentMs, lastEndMs }: LoadEvidence["summary"][number]): KeyUse => {
  const isRefused = heads.some(({ status }) => isKeyRefusal(status));
  return {
    key,
    admittedMs: admitted > 0 ? firstSentMs : null,
    refusedMs: isRefused ? lastEndMs : null,
  };
};

/**
 * Returns when the key was first refused after its last admitted request; `null` if it was never refused then, or never
 * admitted.
 */
function refusedSinceMs(uses: readonly KeyUse[]): number | null {
  const admittedMs = uses.reduce((last, use) => Math.max(last, use.admittedMs ?? -Infinity), -Infinity);
  if (admittedMs === -Infinity) return null;
  const refused = uses.flatMap(({ refusedMs }) => (refusedMs === null || refusedMs < admittedMs ? [] : [refusedMs]));
  return refused.length === 0 ? null : refused.reduce((first, ms) => Math.min(first, ms), Infinity);
}

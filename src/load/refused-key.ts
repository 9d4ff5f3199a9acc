import { is2xx } from "../base/http-status.ts";
import type { LoadEvidence, LoadSample } from "../evidence/load-evidence.ts";

/** A key that the target refused for good, as a revoked one is. */
export type KeyRefusal = NonNullable<LoadEvidence["keyRefused"]>;

export const isKeyRefusal = (status: number | null): boolean => status === 401 || status === 403;

/**
 * Finds a key that was accepted first, and then only refused. Evidence alone does not tell whether the key is refused
 * everywhere: ask for the agent's health.
 */
export function keyRefusalIn({ requests, summary }: LoadEvidence): KeyRefusal | null {
  const uses = [...requests.map(useOf), ...summary.map(useOfSecond)];
  const found = [...Map.groupBy(uses, ({ key }) => key)].flatMap(([key, those]): KeyRefusal[] => {
    const fromMs = refusedSince(those);
    return fromMs === null ? [] : [{ key, fromMs }];
  });
  return found.toSorted((one, other) => one.fromMs - other.fromMs)[0] ?? null;
}

/** What one response, or those of one second, say of a key. Times in epoch milliseconds. */
interface KeyUse {
  readonly key: string;
  /** When an accepted request was last sent; `null` if none was accepted. */
  readonly acceptedMs: number | null;
  readonly isAdmitted: boolean;
  /** When a refusal first arrived; `null` if there was none. */
  readonly refusedMs: number | null;
}

const useOf = ({ key, status, sentMs, headMs }: LoadSample): KeyUse => ({
  key,
  acceptedMs: status !== null && !isKeyRefusal(status) ? sentMs : null,
  isAdmitted: is2xx(status),
  refusedMs: isKeyRefusal(status) ? headMs : null,
});

const useOfSecond = ({ key, heads, admitted, firstSentMs, lastEndMs }: LoadEvidence["summary"][number]): KeyUse => {
  const isRefused = heads.some(({ status }) => isKeyRefusal(status));
  return {
    key,
    acceptedMs: heads.some(({ status }) => !isKeyRefusal(status)) ? firstSentMs : null,
    isAdmitted: admitted > 0,
    refusedMs: isRefused ? lastEndMs : null,
  };
};

/** When the first refusal arrived after which nothing was accepted. */
function refusedSince(uses: readonly KeyUse[]): number | null {
  if (!uses.some(({ isAdmitted }) => isAdmitted)) return null;
  const acceptedMs = uses.reduce((last, use) => Math.max(last, use.acceptedMs ?? -Infinity), -Infinity);
  const refused = uses.flatMap(({ refusedMs }) => (refusedMs === null || refusedMs < acceptedMs ? [] : [refusedMs]));
  return refused.length === 0 ? null : refused.reduce((first, ms) => Math.min(first, ms), Infinity);
}

import { TargetLost } from "../skip-reason.ts";
import type { Exchange } from "../../evidence/exchange.ts";

/** How an outage appears: the target refuses connections, or a gateway responds instead of the target. */
export type OutageKind = "refused" | "gateway";

/** A period in which the target was unavailable, in milliseconds since the start of the run. `toMs: null`: not over. */
export interface OutageTimes {
  readonly kind: OutageKind;
  readonly fromMs: number;
  readonly toMs: number | null;
}

export interface OutageLog {
  readonly all: () => readonly OutageTimes[];
  /** Returns the latest outage if it had not ended at the time `ms`. Otherwise, returns `null`. */
  readonly at: (ms: number) => OutageTimes | null;
  /** Records the beginning of an outage. If the latest outage has not ended at `fromMs`, returns that outage. */
  readonly begin: (kind: OutageKind, fromMs: number) => OutageTimes;
  /** Waits for the end of the latest outage. Resolves to `false` if the run gives up or is stopped before this end. */
  readonly awaitReturn: () => Promise<boolean>;
  /** Rejects if the target does not come back after an outage. With `isHasty`, rejects when an outage begins. */
  readonly rejectOnLoss: (isHasty: boolean) => Promise<never>;
  /** Whether the run has given up, because an outage lasted too long. */
  readonly isDead: () => boolean;
}

interface OutageLogOptions {
  readonly now: () => number;
  readonly isBack: (kind: OutageKind) => Promise<boolean>;
  readonly sleep: (ms: number) => Promise<void>;
  readonly onReturn: () => void;
  /** If the target refuses connections for this long, the run gives up. */
  readonly deadAfterMs: number;
}

/**
 * The run waits this many times longer for the target if a gateway responds. The target is then probably being
 * deployed, which takes longer than a restart.
 */
const gatewayDeadFactor = 4;
const pollMs = 100;

export function openOutageLog({ now, isBack, sleep, onReturn, deadAfterMs }: OutageLogOptions): OutageLog {
  const outages: { -readonly [Name in keyof OutageTimes]: OutageTimes[Name] }[] = [];
  let isDead = false;
  let returning: Promise<boolean> | null = null;
  let nextOutage = Promise.withResolvers<void>();

  const awaitEnd = async (outage: (typeof outages)[number]): Promise<boolean> => {
    const untilMs = now() + deadAfterMs * (outage.kind === "gateway" ? gatewayDeadFactor : 1);
    while (now() < untilMs) {
      try {
        await sleep(pollMs);
      } catch {
        return false;
      }
      if (!(await isBack(outage.kind))) continue;
      outage.toMs = now();
      onReturn();
      return true;
    }
    isDead = true;
    return false;
  };

  const at: OutageLog["at"] = (ms) => {
    const last = outages.at(-1);
    return last !== undefined && (last.toMs === null || ms < last.toMs) ? last : null;
  };

  return {
    all: () => outages,
    at,
    begin: (kind, fromMs) => {
      const ongoing = at(fromMs);
      if (ongoing !== null) return ongoing;
      const outage = { kind, fromMs, toMs: null };
      outages.push(outage);
      returning = awaitEnd(outage);
      nextOutage.resolve();
      nextOutage = Promise.withResolvers();
      // Prevents an unhandled rejection if the run is stopped while no code waits for this promise.
      returning.catch(() => {});
      return outage;
    },
    awaitReturn: async () => (await returning) ?? true,
    rejectOnLoss: async (isHasty) => {
      for (;;) {
        await nextOutage.promise;
        if (isHasty || !(await returning)) throw new TargetLost();
      }
    },
    isDead: () => isDead,
  };
}

interface RequestContent {
  readonly method: string;
  readonly url: string;
  readonly body: string | null;
}

/** A record of requests that may crash the target. A request is a suspect if its connection broke in two outages. */
export interface CrashSuspects {
  /** Call this for each request that the transport resends because its connection broke. */
  readonly observeResent: (exchange: Exchange) => void;
  /**
   * Call this for each request that failed in an outage. `isCut`: its connection broke. If the target refused the
   * connection, records the request only if the transport had sent it before: only then can it be the cause.
   */
  readonly addBroken: (outage: object, exchange: Exchange, isCut: boolean) => void;
  readonly endOutage: () => void;
  /** Returns the method and path of each request whose connection broke at the beginning of `outage`. */
  readonly brokenIn: (outage: object) => readonly string[];
  /** If the request is a suspect, returns why it must not be sent. Otherwise, returns `null`. */
  readonly suspicion: (request: RequestContent) => string | null;
  readonly names: () => readonly string[];
}

export function trackCrashSuspects(): CrashSuspects {
  const brokenByOutage = new Map<object, Map<string, string>>();
  const suspects = new Map<string, string>();
  const resent = new Set<string>();
  return {
    observeResent: ({ request }) => void resent.add(sentIdentity(request)),
    endOutage: () => resent.clear(),
    addBroken: (outage, { request }, isCut) => {
      const id = sentIdentity(request);
      if (!isCut && !resent.has(id)) return;
      const name = methodAndPath(request);
      if ([...brokenByOutage].some(([each, names]) => each !== outage && names.has(id))) suspects.set(id, name);
      brokenByOutage.set(outage, new Map([...(brokenByOutage.get(outage) ?? []), [id, name]]));
    },
    brokenIn: (outage) => [...(brokenByOutage.get(outage)?.values() ?? [])],
    suspicion: (request) => {
      const name = suspects.size === 0 ? undefined : suspects.get(contentIdentity(request));
      return name === undefined
        ? null
        : `the target was lost twice while it served ${name}, so this request is not sent a third time`;
    },
    names: () => [...new Set(suspects.values())],
  };
}

export const methodAndPath = ({ method, url }: Pick<RequestContent, "method" | "url">): string =>
  `${method} ${new URL(url).pathname}`;

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;

/** Returns the method, URL and body as one text, without UUIDs: a probe that runs again generates new UUIDs. */
const contentIdentity = ({ method, url, body }: RequestContent): string =>
  JSON.stringify([method, url, body ?? ""]).replace(uuid, "");

const sentIdentity = ({ method, url, body }: Exchange["request"]): string =>
  contentIdentity({ method, url, body: body.kind === "text" ? body.text : null });

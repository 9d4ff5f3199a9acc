import { duration } from "../../base/duration.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { TargetLost } from "../skip-reason.ts";
import { hasTooLongHead, isClosedByHarness, isConnectionLost, isUnreachable } from "./retry.ts";

/** A time in which the target accepted no connections. Times are in milliseconds since the start of the run. */
export interface Outage {
  readonly fromMs: number;
  /** When the target accepted connections again. `null` if it did not. */
  readonly toMs: number | null;
  /** Requests that were in flight and broke, as method and path. */
  readonly broken: readonly string[];
}

/** Notices when the target goes away, and waits until it is back. */
export interface OutageMonitor {
  /** Number of outages so far. Changes when an outage begins. */
  readonly count: () => number;
  readonly all: () => readonly Outage[];
  /**
   * Finds out why a connection broke: asks at once for a new one, and adds the result to the exchange. A refusal begins
   * an outage. Other exchanges are returned as they are.
   */
  readonly examine: (exchange: Exchange) => Promise<Exchange>;
  /** Learns of a request that broke on a reused connection, and that the transport sends again. */
  readonly observeResent: (exchange: Exchange) => void;
  /** Waits until the target accepts connections. Returns false if it does not come back. */
  readonly awaitReturn: () => Promise<boolean>;
  /** Why a request must not be sent again: it was in flight when two outages began. `null` if it may be sent. */
  readonly suspicion: (request: Requested) => string | null;
  readonly hasSuspects: () => boolean;
  /** Rejects if the target goes away and does not come back; with `isHasty`, as soon as it goes away. */
  readonly loss: (isHasty: boolean) => Promise<never>;
  /** Describes the outages as part of a sentence. `null` if there was none. */
  readonly describe: () => string | null;
  /** Whether the target is away and did not come back. */
  readonly isDead: () => boolean;
  readonly close: () => void;
}

interface OutageOptions {
  readonly now: () => number;
  /** Asks for a new connection. */
  readonly connect: () => Promise<boolean>;
  /** Sleeps for some milliseconds of real time. Rejects if the run is interrupted. */
  readonly sleep: (ms: number) => Promise<void>;
  /** Called when the target is back. */
  readonly onReturn: () => void;
  /** A target that refuses connections for this long is dead. */
  readonly deadAfterMs: number;
}

export const defaultDeadAfterMs = 8000;
const pollMs = 100;
/** While nothing is sent, the target is asked for a connection this often. */
const idlePollMs = 2000;

/** A request to compare: with the same method, address and body it may have the same effect. */
export interface Requested {
  readonly method: string;
  readonly url: string;
  readonly body: string | null;
}

interface OngoingOutage {
  readonly fromMs: number;
  toMs: number | null;
  readonly broken: Map<string, string>;
}

export function watchOutages({ now, connect, sleep, onReturn, deadAfterMs }: OutageOptions): OutageMonitor {
  const outages: OngoingOutage[] = [];
  const suspects = new Map<string, string>();
  const resent = new Set<string>();
  let wasReached = false;
  let isDead = false;
  let lastExchangeMs = 0;
  let returning: Promise<boolean> | null = null;
  let nextOutage = Promise.withResolvers<void>();
  let latest: { readonly startedMs: number; readonly isAccepted: Promise<boolean> } | null = null;

  /** Whether a connection is accepted that was asked for after `sinceMs`. Broken connections of one moment share one. */
  const isAcceptedSince = (sinceMs: number): Promise<boolean> => {
    if (latest === null || latest.startedMs < sinceMs) latest = { startedMs: now(), isAccepted: connect() };
    return latest.isAccepted;
  };

  const awaitConnection = async (outage: OngoingOutage): Promise<boolean> => {
    const untilMs = now() + deadAfterMs;
    while (now() < untilMs) {
      try {
        await sleep(pollMs);
      } catch {
        return false;
      }
      if (!(await connect())) continue;
      outage.toMs = now();
      resent.clear();
      onReturn();
      return true;
    }
    isDead = true;
    return false;
  };

  const begin = (fromMs: number): OngoingOutage => {
    const last = outages.at(-1);
    if (last !== undefined && (last.toMs === null || fromMs < last.toMs)) return last;
    const outage: OngoingOutage = { fromMs, toMs: null, broken: new Map() };
    outages.push(outage);
    returning = awaitConnection(outage);
    nextOutage.resolve();
    nextOutage = Promise.withResolvers();
    // The run may be interrupted while nobody waits for the target.
    returning.catch(() => {});
    return outage;
  };

  /** Remembers a request that broke. In its second outage it becomes a suspect. */
  const addBroken = (outage: OngoingOutage, { request }: Exchange): void => {
    const id = identityOfSent(request);
    const name = `${request.method} ${new URL(request.url).pathname}`;
    outage.broken.set(id, name);
    if (outages.some((each) => each !== outage && each.broken.has(id))) suspects.set(id, name);
  };

  const examine = async (exchange: Exchange): Promise<Exchange> => {
    const { answer, sentMs } = exchange;
    lastExchangeMs = now();
    const isCut = isConnectionLost(exchange) && !isClosedByHarness(exchange) && !hasTooLongHead(exchange);
    if (!isCut && !isUnreachable(exchange)) {
      wasReached ||= answer.kind === "answered";
      return exchange;
    }
    if (!wasReached) return exchange;
    if (await isAcceptedSince(answer.endMs)) return { ...exchange, reconnect: "accepted" };
    const outage = begin(isCut ? answer.endMs : sentMs);
    if (isCut || resent.has(identityOfSent(exchange.request))) addBroken(outage, exchange);
    return { ...exchange, reconnect: "refused" };
  };

  const idleCheck = setInterval(() => {
    if (!wasReached || outages.at(-1)?.toMs === null || now() - lastExchangeMs < idlePollMs) return;
    const startedMs = now();
    void connect().then((isAccepted) => {
      if (!isAccepted && lastExchangeMs < startedMs) begin(startedMs);
    });
  }, idlePollMs).unref();

  const all = (): Outage[] =>
    outages.map(({ fromMs, toMs, broken }) => ({ fromMs, toMs, broken: [...broken.values()] }));
  return {
    count: () => outages.length,
    all,
    examine,
    observeResent: ({ request }) => void resent.add(identityOfSent(request)),
    awaitReturn: async () => (await returning) ?? true,
    suspicion: (request) => {
      const name = suspects.size === 0 ? undefined : suspects.get(identityOf(request));
      return name === undefined ? null : describeSuspect(name);
    },
    hasSuspects: () => suspects.size > 0,
    loss: async (isHasty) => {
      for (;;) {
        await nextOutage.promise;
        if (isHasty || !(await returning)) throw new TargetLost();
      }
    },
    describe: () => (outages.length === 0 ? null : describeOutages(all(), [...suspects.values()])),
    isDead: () => isDead,
    close: () => clearInterval(idleCheck),
  };
}

/** A monitor for a few requests, which notices no outage. */
export const noOutages: OutageMonitor = {
  count: () => 0,
  all: () => [],
  examine: (exchange) => Promise.resolve(exchange),
  observeResent: () => {},
  awaitReturn: () => Promise.resolve(true),
  suspicion: () => null,
  hasSuspects: () => false,
  loss: () => new Promise(() => {}),
  describe: () => null,
  isDead: () => false,
  close: () => {},
};

const describeSuspect = (name: string): string =>
  `the target was lost twice while it served ${name}, so this request is not sent a third time`;

/** Describes outages and the requests that may have caused them, as part of a sentence. */
function describeOutages(outages: readonly Outage[], suspects: readonly string[]): string {
  const described = outages.map(({ fromMs, toMs }) =>
    toMs === null
      ? `lost after ${duration(Math.round(fromMs))}, and refused connections from then on`
      : `away from ${duration(Math.round(fromMs))} to ${duration(Math.round(toMs))} of the run`,
  );
  const which = [...new Set(suspects)];
  return `the target was ${described.join(", ")}${which.length === 0 ? "" : `; ${which.join(" and ")} preceded two losses, and may crash it`}`;
}

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;

/** Requests with the same identity differ in their key at most, and in identifiers that a probe draws for each. */
const identityOf = ({ method, url, body }: Requested): string =>
  JSON.stringify([method, url, body ?? ""]).replace(uuid, "");

const identityOfSent = ({ method, url, body }: Exchange["request"]): string =>
  identityOf({ method, url, body: body.kind === "text" ? body.text : null });

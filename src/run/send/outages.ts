import { duration } from "../../base/duration.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { TargetLost } from "../skip-reason.ts";
import {
  hasTooLongHead,
  isClosedByHarness,
  isConnectionLost,
  isGatewayError,
  isUnreachable,
  mayRetry,
} from "./retry.ts";

/**
 * A time in which the target accepted no connections, or a gateway answered in its place. Times are in milliseconds
 * since the start of the run.
 */
export interface Outage {
  readonly kind: "refused" | "gateway";
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
  /** Sends a request again, and records the exchange. During an outage, it is recorded as a part of that. */
  readonly repeat: (exchange: Exchange, during: Outage["kind"] | null) => Promise<Exchange>;
  /** Sleeps for some milliseconds of real time. Rejects if the run is interrupted. */
  readonly sleep: (ms: number) => Promise<void>;
  /** Called when the target is back. */
  readonly onReturn: () => void;
  /** A target that refuses connections for this long is dead. */
  readonly deadAfterMs: number;
  /** While nothing is sent, the target is asked for a connection this often. */
  readonly idlePollMs: number;
}

export const defaultDeadAfterMs = 8000;
/** A gateway may answer for a target this many times as long: a rolling deployment takes a while. */
const gatewayFactor = 4;
const pollMs = 100;
/** A local server may be back from a restart in less than a second. A remote one should not log many connections. */
export const defaultIdlePollMs = { loopback: 150, elsewhere: 2000 } as const;

/** A request to compare: with the same method, address and body it may have the same effect. */
export interface Requested {
  readonly method: string;
  readonly url: string;
  readonly body: string | null;
}

interface OngoingOutage {
  readonly kind: Outage["kind"];
  readonly fromMs: number;
  toMs: number | null;
  readonly broken: Map<string, string>;
}

export function watchOutages({
  now,
  connect,
  repeat,
  sleep,
  onReturn,
  deadAfterMs,
  idlePollMs,
}: OutageOptions): OutageMonitor {
  const outages: OngoingOutage[] = [];
  const suspects = new Map<string, string>();
  const resent = new Set<string>();
  /** Methods and paths to which the target itself responds as a gateway would. */
  const own = new Set<string>();
  /** A read that got a response of the target. */
  let answeredRead: Exchange | null = null;
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

  /** Whether the target itself responds to a read that it has answered before. */
  const isAnswering = async (during: Outage["kind"] | null): Promise<boolean> => {
    const { answer } = answeredRead === null ? { answer: null } : await repeat(answeredRead, during);
    return answer === null || (answer.kind === "answered" && !isGatewayError(answer));
  };

  const awaitConnection = async (outage: OngoingOutage): Promise<boolean> => {
    const untilMs = now() + deadAfterMs * (outage.kind === "gateway" ? gatewayFactor : 1);
    while (now() < untilMs) {
      try {
        await sleep(pollMs);
      } catch {
        return false;
      }
      if (!(await connect()) || !(await isAnswering(outage.kind))) continue;
      outage.toMs = now();
      resent.clear();
      onReturn();
      return true;
    }
    isDead = true;
    return false;
  };

  /** Returns the outage that was going on at an instant; `null` if there was none. */
  const outageAt = (ms: number): OngoingOutage | null => {
    const last = outages.at(-1);
    return last !== undefined && (last.toMs === null || ms < last.toMs) ? last : null;
  };

  const begin = (kind: Outage["kind"], fromMs: number): OngoingOutage => {
    const ongoing = outageAt(fromMs);
    if (ongoing !== null) return ongoing;
    const outage: OngoingOutage = { kind, fromMs, toMs: null, broken: new Map() };
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

  /**
   * Finds out whether a 502, 503 or 504 is a gateway's. It is if the target responds to nothing, or to the same request
   * a moment later.
   */
  const examineGatewayError = async (exchange: Exchange): Promise<Exchange> => {
    const { request, sentMs } = exchange;
    const id = `${request.method} ${new URL(request.url).pathname}`;
    if (own.has(id)) return exchange;
    if (outageAt(sentMs) === null && (await isAnswering(null))) {
      const isRepeated = mayRetry(request.method, request.url, {});
      const again = isRepeated ? (await repeat(exchange, null)).answer : null;
      if (again === null || again.kind === "unanswered" || isGatewayError(again)) {
        own.add(id);
        return exchange;
      }
    }
    begin("gateway", sentMs);
    return { ...exchange, reconnect: "gateway" };
  };

  const examine = async (exchange: Exchange): Promise<Exchange> => {
    const { answer, sentMs } = exchange;
    lastExchangeMs = now();
    const isCut = isConnectionLost(exchange) && !isClosedByHarness(exchange) && !hasTooLongHead(exchange);
    if (!isCut && !isUnreachable(exchange)) {
      if (wasReached && answer.kind === "answered" && isGatewayError(answer)) return examineGatewayError(exchange);
      wasReached ||= answer.kind === "answered" && !isGatewayError(answer);
      if (isAnsweredRead(exchange) && !isHealth(answeredRead)) answeredRead = exchange;
      return exchange;
    }
    if (!wasReached) return exchange;
    if (await isAcceptedSince(answer.endMs)) return { ...exchange, reconnect: "accepted" };
    const outage = begin("refused", isCut ? answer.endMs : sentMs);
    if (isCut || resent.has(identityOfSent(exchange.request))) addBroken(outage, exchange);
    return { ...exchange, reconnect: "refused" };
  };

  const idleCheck = setInterval(() => {
    if (!wasReached || outages.at(-1)?.toMs === null || now() - lastExchangeMs < idlePollMs) return;
    const startedMs = now();
    void connect().then((isAccepted) => {
      if (!isAccepted && lastExchangeMs < startedMs) begin("refused", startedMs);
    });
  }, idlePollMs).unref();

  const all = (): Outage[] =>
    outages.map(({ kind, fromMs, toMs, broken }) => ({ kind, fromMs, toMs, broken: [...broken.values()] }));
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
  const described = outages.map(describeOne);
  const which = [...new Set(suspects)];
  return `the target was ${described.join(", ")}${which.length === 0 ? "" : `; ${which.join(" and ")} preceded two losses, and may crash it`}`;
}

function describeOne({ kind, fromMs, toMs }: Outage): string {
  const [from, to] = [fromMs, toMs].map((ms) => (ms === null ? "" : duration(Math.round(ms))));
  const how = kind === "gateway" ? "a gateway answered in its place" : "refused connections";
  return toMs === null
    ? `lost after ${from}, and ${how} from then on`
    : `away from ${from} to ${to} of the run${kind === "gateway" ? ` (${how})` : ""}`;
}

const isHealth = (exchange: Exchange | null): boolean => exchange?.request.url.endsWith("/health") ?? false;
const isAnsweredRead = ({ key, request, answer }: Exchange): boolean =>
  key !== null && request.method === "GET" && answer.kind === "answered" && answer.status === 200;

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;

/**
 * Returns the same text for requests that differ only in their key, or in the random identifiers that a probe
 * generates.
 */
const identityOf = ({ method, url, body }: Requested): string =>
  JSON.stringify([method, url, body ?? ""]).replace(uuid, "");

const identityOfSent = ({ method, url, body }: Exchange["request"]): string =>
  identityOf({ method, url, body: body.kind === "text" ? body.text : null });

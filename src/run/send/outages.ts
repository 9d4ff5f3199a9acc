import { formatDuration } from "../../base/duration.ts";
import type { Answered, Exchange } from "../../evidence/exchange.ts";
import {
  type CrashSuspects,
  methodAndPath,
  openOutageLog,
  type OutageKind,
  type OutageLog,
  type OutageTimes,
  trackCrashSuspects,
} from "./outage-log.ts";
import {
  hasTooLongHead,
  isClosedByHarness,
  isConnectionLost,
  isGatewayError,
  isUnreachable,
  mayRetry,
} from "./retry.ts";
import { gatewayOutages, type ResponseCounts } from "../../rules/gateway.ts";

export interface Outage extends OutageTimes {
  /** Method and path of each request whose connection broke when the outage began. */
  readonly broken: readonly string[];
}

export interface OutageMonitor
  extends
    Pick<OutageLog, "awaitReturn" | "rejectOnLoss" | "isDead">,
    Pick<CrashSuspects, "suspicion" | "observeResent"> {
  readonly count: () => number;
  readonly all: () => readonly Outage[];
  /**
   * Records an outage if the exchange shows one. Returns the exchange. `reconnect` marks it as part of an outage
   * (`refused`, `gateway`), or as a failure although the target accepts new connections (`accepted`).
   */
  readonly examine: (exchange: Exchange) => Promise<Exchange>;
  readonly hasSuspects: () => boolean;
  readonly describe: () => string | null;
  readonly close: () => void;
}

interface OutageOptions {
  readonly now: () => number;
  readonly connect: () => Promise<boolean>;
  /** Sends a recorded request again. `during`: the kind of the current outage, or `null`. */
  readonly repeat: (exchange: Exchange, during: OutageKind | null) => Promise<Exchange>;
  readonly sleep: (ms: number) => Promise<void>;
  readonly onReturn: () => void;
  readonly deadAfterMs: number;
  /** Milliseconds between connection attempts while the run sends nothing. */
  readonly idlePollMs: number;
}

export const defaultDeadAfterMs = 8000;
/** Default of `idlePollMs`. Remote targets are tried less often, because each attempt can add a line to their logs. */
export const defaultIdlePollMs = { loopback: 150, elsewhere: 2000 } as const;

export function watchOutages(options: OutageOptions): OutageMonitor {
  const { now, connect, repeat } = options;
  const suspects = trackCrashSuspects();
  const reads = rememberRead(repeat);
  const isAcceptedSince = shareConnectionAttempts(options);
  const log = openOutageLog({
    ...options,
    isBack: async (kind) => (await connect()) && reads.isAnswered(kind),
    onReturn: () => {
      suspects.endOutage();
      options.onReturn();
    },
  });
  const gatewayErrors = trackGatewayErrors({
    isAway: ({ sentMs }) => log.at(sentMs) !== null,
    isAnswering: () => reads.isAnswered(null),
    repeat: (exchange) => repeat(exchange, null),
  });
  let wasReached = false;
  let lastExchangeMs = 0;

  const examineAnswered = async (exchange: AnsweredExchange): Promise<Exchange> => {
    gatewayErrors.observe(exchange);
    const isError = isGatewayError(exchange.answer);
    if (wasReached && isError && (await gatewayErrors.isOfGateway(exchange))) {
      log.begin("gateway", exchange.sentMs);
      return { ...exchange, reconnect: "gateway" };
    }
    wasReached ||= !isError;
    reads.observe(exchange);
    return exchange;
  };

  const examineLost = async (exchange: Exchange, isCut: boolean): Promise<Exchange> => {
    const { answer, sentMs } = exchange;
    if (await isAcceptedSince(answer.endMs)) return { ...exchange, reconnect: "accepted" };
    const outage = log.begin("refused", isCut ? answer.endMs : sentMs);
    suspects.addBroken(outage, exchange, isCut);
    return { ...exchange, reconnect: "refused" };
  };

  const stopIdleCheck = watchWhileIdle(options, log, () => (wasReached ? lastExchangeMs : null));

  return {
    awaitReturn: log.awaitReturn,
    rejectOnLoss: log.rejectOnLoss,
    isDead: log.isDead,
    count: () => log.all().length,
    all: () => log.all().map((outage) => ({ ...outage, broken: suspects.brokenIn(outage) })),
    examine: async (exchange) => {
      lastExchangeMs = now();
      const isCut = isConnectionLost(exchange) && !isClosedByHarness(exchange) && !hasTooLongHead(exchange);
      if (isCut || isUnreachable(exchange)) return wasReached ? examineLost(exchange, isCut) : exchange;
      return isAnswered(exchange) ? examineAnswered(exchange) : exchange;
    },
    observeResent: suspects.observeResent,
    suspicion: suspects.suspicion,
    hasSuspects: () => suspects.names().length > 0,
    describe: () => (log.all().length === 0 ? null : describeOutages(log.all(), suspects.names())),
    close: stopIdleCheck,
  };
}

function watchWhileIdle(
  { now, connect, idlePollMs }: Pick<OutageOptions, "now" | "connect" | "idlePollMs">,
  log: OutageLog,
  lastExchangeMs: () => number | null,
): () => void {
  const timer = setInterval(() => {
    const startedMs = now();
    if (log.all().at(-1)?.toMs === null || startedMs - (lastExchangeMs() ?? Infinity) < idlePollMs) return;
    void connect().then((isAccepted) => {
      if (!isAccepted && (lastExchangeMs() ?? Infinity) < startedMs) log.begin("refused", startedMs);
    });
  }, idlePollMs).unref();
  return () => clearInterval(timer);
}

const isAnswered = (exchange: Exchange): exchange is AnsweredExchange => exchange.answer.kind === "answered";

/** Remembers a successful GET, to repeat it later. Prefers a health check, which counts toward no limit. */
function rememberRead(repeat: OutageOptions["repeat"]) {
  let read: Exchange | null = null;
  return {
    observe: (exchange: AnsweredExchange): void => {
      if (isAnsweredRead(exchange) && !isHealthRequest(read)) read = exchange;
    },
    /** Repeats the remembered GET. Resolves to `true` if the target itself responds, or if no GET is remembered. */
    isAnswered: async (during: OutageKind | null): Promise<boolean> => {
      const { answer } = read === null ? { answer: null } : await repeat(read, during);
      return answer === null || (answer.kind === "answered" && !isGatewayError(answer));
    },
  };
}

/**
 * Returns a function that tells whether the target accepts connections. Requests that fail together share one attempt:
 * the latest, if it began after the request failed (`sinceMs`).
 */
function shareConnectionAttempts({ now, connect }: Pick<OutageOptions, "now" | "connect">) {
  let latest: { readonly startedMs: number; readonly isAccepted: Promise<boolean> } | null = null;
  return (sinceMs: number): Promise<boolean> => {
    if (latest === null || latest.startedMs < sinceMs) latest = { startedMs: now(), isAccepted: connect() };
    return latest.isAccepted;
  };
}

export const noOutages: OutageMonitor = {
  count: () => 0,
  all: () => [],
  examine: (exchange) => Promise.resolve(exchange),
  observeResent: () => {},
  awaitReturn: () => Promise.resolve(true),
  suspicion: () => null,
  hasSuspects: () => false,
  rejectOnLoss: () => new Promise(() => {}),
  describe: () => null,
  isDead: () => false,
  close: () => {},
};

function describeOutages(outages: readonly OutageTimes[], suspects: readonly string[]): string {
  const described = outages.map(describeOne).join(", ");
  const cause = suspects.length === 0 ? "" : `; ${suspects.join(" and ")} preceded two losses, and may crash it`;
  return `the target was ${described}${cause}`;
}

function describeOne({ kind, fromMs, toMs }: OutageTimes): string {
  const [from, to] = [fromMs, toMs].map((ms) => (ms === null ? "" : formatDuration(Math.round(ms))));
  const how = kind === "gateway" ? "a gateway answered in its place" : "refused connections";
  return toMs === null
    ? `lost after ${from}, and ${how} from then on`
    : `away from ${from} to ${to} of the run${kind === "gateway" ? ` (${how})` : ""}`;
}

const isHealthRequest = (exchange: Exchange | null): boolean => exchange?.request.url.endsWith("/health") ?? false;
const isAnsweredRead = ({ key, request, answer }: AnsweredExchange): boolean =>
  key !== null && request.method === "GET" && answer.status === 200;

/** An exchange with a response, from the target or from a gateway. */
type AnsweredExchange = Exchange & { readonly answer: Answered };

interface GatewayErrorsOptions {
  readonly isAway: (exchange: AnsweredExchange) => boolean;
  /** Repeats an earlier GET. Resolves to `true` if the target itself responds, or if there was no earlier GET. */
  readonly isAnswering: () => Promise<boolean>;
  readonly repeat: (exchange: Exchange) => Promise<Exchange>;
}

/** Decides whether a 502, 503 or 504 comes from the target, or from a gateway in front of the target. */
function trackGatewayErrors({ isAway, isAnswering, repeat }: GatewayErrorsOptions) {
  /** Methods and paths of requests to which the target itself responds with 502, 503 or 504. */
  const ownErrors = new Set<string>();
  const responses: ResponseCounts[] = [];
  /** Whether the target itself sends all 502, 503 and 504 responses: their times do not fit a gateway's outage. */
  let areAllOwn = false;

  /**
   * Whether only this request fails: the target still responds to an earlier GET, and this request fails again. A
   * request that must not be repeated counts as failed again.
   */
  const isOnlyFailure = async (exchange: AnsweredExchange): Promise<boolean> => {
    if (isAway(exchange) || !(await isAnswering())) return false;
    const { method, url } = exchange.request;
    const again = mayRetry(method, url, {}) ? (await repeat(exchange)).answer : null;
    return again === null || again.kind === "unanswered" || isGatewayError(again);
  };

  return {
    /** Must be called for each response. A gateway's errors come in groups; isolated errors are the target's own. */
    observe: ({ sentMs, answer }: AnsweredExchange): void => {
      const gatewayLike = Number(isGatewayError(answer));
      const { headMs } = answer;
      responses.push({ sentMs, fromMs: headMs, toMs: headMs, gatewayLike, others: 1 - gatewayLike });
    },
    isOfGateway: async (exchange: AnsweredExchange): Promise<boolean> => {
      const endpoint = methodAndPath(exchange.request);
      areAllOwn ||= gatewayOutages(responses) === null;
      if (areAllOwn || ownErrors.has(endpoint)) return false;
      if (!(await isOnlyFailure(exchange))) return true;
      ownErrors.add(endpoint);
      return false;
    },
  };
}

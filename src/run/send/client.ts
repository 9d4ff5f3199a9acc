import { setTimeout as sleep } from "node:timers/promises";

import { encodedSegment } from "../../base/path-segment.ts";
import type { RunBounds } from "../plan/bounds.ts";
import { type Exchange, type Header, statusOf, type StreamEvent } from "../../evidence/exchange.ts";
import type { Sample } from "../../rules/limits/sample.ts";
import type { KeyState } from "../../spec/dimensions.ts";
import { headerNames } from "../../spec/headers.ts";
import { firstRequirements, type RequirementSet } from "../../spec/requirements.ts";
import { type OwnRequestTarget, withOwnFields } from "../../target/own-request.ts";
import type { RoleAssignment, TargetKey } from "../../target/target.ts";
import type { Deadlines } from "../../wire/deadlines.ts";
import { retryAfterSeconds, sampleOf, wholeNumberHeader } from "../../rules/limits/sample.ts";
import type { OutgoingRequest, Transport, PendingExchange } from "../../wire/transport.ts";
import {
  ExecutionBudgetExhausted,
  need,
  readOnlySkip,
  RequestBudgetExhausted,
  SkipError,
  TargetLost,
  TargetUnavailable,
  UnsendablePath,
  WaitRefused,
} from "../skip-reason.ts";
import { isLastEvent, type TimeoutPolicy, createTimeoutPolicy } from "./timeout-policy.ts";
import type { Pacer } from "./pacer.ts";
import { queriesIn, type Recorder } from "./recorder.ts";
import type { OutageMonitor } from "./outages.ts";
import { hasTooLongHead, hasTimedOut, isConnectionLost, isLostWithTarget, isUnreachable, mayRetry } from "./retry.ts";
import type { RunClock } from "../time/run-clock.ts";

export interface SendOptions {
  /** A body to send as JSON. */
  readonly json?: unknown;
  /** A body to send unchanged. */
  readonly text?: string;
  readonly accept?: string;
  readonly contentType?: string;
  /** Additional headers. A function is called just before the request is sent, after any wait. */
  readonly headers?: readonly Header[] | (() => readonly Header[]);
  /** The value of the `Authorization` header, in place of the client's key. `null` omits the header. */
  readonly authorization?: string | null;
  /** Sends at once, even if the key has no requests left. For probes that test limits, which provoke a 429. */
  readonly unpaced?: boolean;
  /** Takes the path as relative to the origin, and not to the base URL. */
  readonly fromOrigin?: boolean;
  readonly deadlines?: Partial<Deadlines>;
  /** Minimum deadline for the response head, in milliseconds. Replaces a shorter one. */
  readonly minHeadMs?: number;
  /** The limit that the probe has used up before this request. Recorded with the exchange. */
  readonly keyState?: KeyState;
  /** Never sends the request again, for probes that count the effects of their requests. */
  readonly noRetry?: true;
  /** Closes the stream once this returns true for the events so far. */
  readonly closeWhen?: (events: readonly StreamEvent[]) => boolean;
}

/** Sends requests to the target with one of its keys, and records them. */
export interface Client {
  readonly key: TargetKey;
  readonly as: (key: TargetKey) => Client;
  /**
   * Returns a copy of the client for a probe that begins now. It throws {@link TargetLost} once an outage begins.
   *
   * @param onAdmitted called before each request, with the executions that it may start if these are bounded, else 0
   */
  readonly begin: (onAdmitted?: (executions: number) => void) => Client;
  /** Returns a copy of the client whose requests are judged only by checks of this requirement set and later ones. */
  readonly since: (requirements: RequirementSet) => Client;
  readonly send: (method: string, path: string, options?: SendOptions) => Promise<Exchange>;
  /** Starts a request without pacing. Returns at once, while the request is under way. */
  readonly open: (method: string, path: string, options?: SendOptions) => PendingExchange;
  /** Sends without pacing, and records only the rate-limit sample of the response, not the exchange. */
  readonly sample: (method: string, path: string, options?: SendOptions) => Promise<Sample>;
  /** Invokes an agent. Fields that a role assignment sets replace those of `body`. */
  readonly invoke: (agent: string | RoleAssignment, body: object, options?: SendOptions) => Promise<Exchange>;
  readonly stream: (agent: string | RoleAssignment, body: object, options?: SendOptions) => Promise<Exchange>;
  readonly health: (agent: string, options?: SendOptions) => Promise<Exchange>;
  /** Returns the text of a POST as it is sent, for a signature of it. */
  readonly bodyToSend: (path: string, text: string) => string;
}

export interface ClientContext extends Omit<RunBounds, "maxTimeMs"> {
  readonly baseUrl: string;
  /** The parts of the target that decide which fields a body needs. */
  readonly requestTarget: OwnRequestTarget;
  readonly transport: Transport;
  readonly recorder: Recorder;
  readonly pacer: Pacer;
  readonly time: RunClock;
  readonly outages: OutageMonitor;
  readonly maxRequests: number;
  readonly signal: AbortSignal;
}

/**
 * Whether an id can be a segment of a URL path: URLs drop `.` and `..`, and replace lone surrogates (WHATWG URL, 4.1).
 */
export const isSegment = (id: string): boolean => !/^\.{1,2}$/.test(id) && id.isWellFormed();

/** Returns the path of an agent's endpoint, below the base URL. A role assignment may set another one. */
export function agentPath(who: string | RoleAssignment, endpoint: "invoke" | "stream" | "health"): string {
  const { agent, path } = typeof who === "string" ? { agent: who, path: null } : who;
  const template = path ?? "/agents/{agent_id}/{endpoint}";
  return template.replaceAll("{agent_id}", () => encodedSegment(agent)).replaceAll("{endpoint}", endpoint);
}

/** Returns the body of a request. Fields that a role assignment sets replace those of `body`. */
export const bodyFor = (who: string | RoleAssignment, body: object): object =>
  typeof who === "string" ? body : { ...body, ...who.body };

/** Maximum number of retries after a 429 that no probe has provoked. */
const maxRateLimitRetries = 2;
/** After this many failed connections in a row, the run stops. */
const maxUnreachable = 5;

/** State that the copies of a client share. */
interface SharedClientState extends ClientContext {
  readonly guard: SendGuard;
  /** Number of outages before the current probe began. With more, the client throws {@link TargetLost}. */
  readonly outagesBefore: number;
  /** The requirement set that added these requests. Earlier sets do not judge them. */
  readonly since: RequirementSet;
  readonly onAdmitted?: ((executions: number) => void) | undefined;
}

export const openClient = (context: ClientContext, key: TargetKey): Client =>
  clientWith(
    { ...context, guard: openGuard(context), outagesBefore: context.outages.count(), since: firstRequirements },
    key,
  );

function clientWith(shared: SharedClientState, key: TargetKey): Client {
  const send: Client["send"] = (method, path, options = {}) =>
    sendWithRateLimitRetries(shared, key, { method, path, options });
  return {
    key,
    as: (other) => clientWith(shared, other),
    begin: (onAdmitted) => clientWith({ ...shared, onAdmitted, outagesBefore: shared.outages.count() }, key),
    since: (requirements) => clientWith({ ...shared, since: requirements }, key),
    send,
    open: (method, path, options = {}) => {
      const call = { method, path, options };
      const pending = shared.transport.open(admit(shared, key, call));
      const finished = finishAndRecord(shared, key, call, pending, "exchange").then(({ exchange }) => exchange);
      return { ...pending, finished };
    },
    sample: async (method, path, options = {}) => {
      const call = { method, path, options };
      const pending = shared.transport.openFast(admit(shared, key, call));
      return (await finishAndRecord(shared, key, call, pending, "sample")).sample;
    },
    invoke: (agent, body, options = {}) =>
      send("POST", agentPath(agent, "invoke"), { json: bodyFor(agent, body), ...options }),
    stream: (agent, body, options = {}) =>
      send("POST", agentPath(agent, "stream"), { json: bodyFor(agent, body), accept: "text/event-stream", ...options }),
    health: (agent, options = {}) => send("GET", agentPath(agent, "health"), options),
    bodyToSend: (path, text) => withOwnFields(shared.requestTarget, path, text),
  };
}

interface ClientRequest {
  readonly method: string;
  readonly path: string;
  readonly options: SendOptions;
}

/** Whether a request uses the client's key, and so counts toward its limits. */
const usesClientKey = ({ options }: ClientRequest): boolean => options.authorization === undefined;
const isHealth = ({ path }: ClientRequest): boolean => path.endsWith("/health");

/** Sends a request. After a 429 that the probe did not provoke, waits as told and retries up to twice. */
async function sendWithRateLimitRetries(
  shared: SharedClientState,
  key: TargetKey,
  call: ClientRequest,
): Promise<Exchange> {
  for (let retries = 0; ; retries++) {
    const exchange = await sendWithNetworkRetries(shared, key, call);
    if (statusOf(exchange) !== 429 || call.options.unpaced === true || isHealth(call)) return exchange;
    if (retries >= maxRateLimitRetries) return exchange;
    if (usesClientKey(call) && isConcurrencyRefusal(exchange)) continue;
    try {
      await shared.time.passTime(((retryAfterSeconds(exchange) ?? 1) + 0.2) * 1000, "the target responded with 429");
    } catch (error) {
      if (error instanceof WaitRefused) return exchange;
      throw error;
    }
  }
}

/** Real time to wait after a 429 for concurrency, until the server has freed a slot. */
const slotReleaseMs = 400;

/** Whether a 429 refuses a request because of the concurrency limit: the rate-limit window still has requests left. */
const isConcurrencyRefusal = (exchange: Exchange): boolean =>
  statusOf(exchange) === 429 &&
  (wholeNumberHeader(exchange, headerNames.rateRemaining) ?? 0) > 0 &&
  (retryAfterSeconds(exchange) ?? 0) <= 2;

/** Pause before each retry, in milliseconds: two retries after a broken connection, one after a timeout. */
const retryPausesMs = { connectionLost: [50, 500], timedOut: [2000] } as const;

/** Sends a request. Retries it, if {@link mayRetry}, after a broken connection, or a timeout of a slow target. */
async function sendWithNetworkRetries(
  shared: SharedClientState,
  key: TargetKey,
  call: ClientRequest,
): Promise<Exchange> {
  const { recorder, time, pacer } = shared;
  let exchange = await sendOnce(shared, key, call);
  // No connection was made, so any request may be sent again. By now the target accepts connections.
  if (isUnreachable(exchange) && exchange.reconnect === "accepted") exchange = await sendOnce(shared, key, call);
  if (isLostWithTarget(exchange)) return exchange;
  if (!mayRetry(call.method, call.path, call.options)) return exchange;
  for (const ms of retryPausesMs.connectionLost) {
    if (!isConnectionLost(exchange) || hasTooLongHead(exchange) || isLostWithTarget(exchange)) break;
    recorder.countLost();
    await time.sleepReal(ms);
    exchange = await sendOnce(shared, key, call);
  }
  for (const ms of retryPausesMs.timedOut) {
    if (!hasTimedOut(exchange) || !pacer.slowdown.isSlow()) break;
    await time.sleep(ms);
    exchange = await sendOnce(shared, key, call);
  }
  if (hasTimedOut(exchange)) pacer.slowdown.countUnanswered();
  return exchange;
}

async function sendOnce(shared: SharedClientState, key: TargetKey, call: ClientRequest): Promise<Exchange> {
  const isUnpaced = call.options.unpaced === true || !usesClientKey(call) || isHealth(call);
  const release = isUnpaced ? () => {} : await shared.pacer.acquire(key);
  try {
    const pending = shared.transport.open(admit(shared, key, call));
    const { exchange } = await finishAndRecord(shared, key, call, pending, "exchange");
    // `release` lets the next request of the key start, which would need the same slot.
    if (!isUnpaced && isConcurrencyRefusal(exchange)) await sleep(slotReleaseMs);
    return exchange;
  } finally {
    release();
  }
}

/** Quick test for paths that the URL standard leaves as they are. Nearly all paths match. */
const unchangedPathPattern = /^[\w/?=&-]*$/;

/** Throws {@link UnsendablePath} for a segment that URLs drop: the sent request would differ from its record. */
function checkPath({ path }: ClientRequest): void {
  if (unchangedPathPattern.test(path)) return;
  const dropped = path
    .replace(/[?].*/s, "")
    .split("/")
    .find((segment) => !isSegment(segment.replaceAll(/%2e/gi, ".")));
  if (dropped === undefined) return;
  throw new UnsendablePath(`${path} cannot be sent: URLs drop the segment \`${dropped}\``);
}

/** Returns the body of a call as it is sent, with the fields that its agent needs in each request. */
function bodyToSend({ requestTarget }: SharedClientState, { method, path, options }: ClientRequest): string | null {
  const text = options.text ?? (options.json === undefined ? null : JSON.stringify(options.json));
  return text === null || method !== "POST" ? text : withOwnFields(requestTarget, path, text);
}

/** Counts a request against the run's bounds, and returns what to send. Throws if the run must not send it. */
function admit(shared: SharedClientState, key: TargetKey, call: ClientRequest): OutgoingRequest {
  const { guard, baseUrl, pacer, outages, outagesBefore, onAdmitted } = shared;
  checkPath(call);
  const { method, path, options } = call;
  const requested = {
    method,
    url: (options.fromOrigin === true ? new URL(baseUrl).origin : baseUrl) + path,
    body: bodyToSend(shared, call),
  };
  if (outages.count() !== outagesBefore) throw new TargetLost();
  const suspicion = outages.suspicion(requested);
  if (suspicion !== null) throw new SkipError(suspicion);
  const executions = guard.admit(call);
  onAdmitted?.(executions);
  return {
    ...requested,
    key: usesClientKey(call) ? key.name : null,
    headers: headersOf(key, options),
    // If the whole target is slow, the default deadlines apply; if one endpoint timed out, it gets shorter ones.
    deadlines: { ...(pacer.slowdown.isSlow() ? {} : guard.timeouts.deadlinesFor(method, path)), ...options.deadlines },
    ...(options.minHeadMs === undefined ? {} : { minHeadMs: options.minHeadMs }),
    closing: { isLast: isLastEvent, ...guard.timeouts.streamCloseTimeout() },
    ...(options.closeWhen === undefined ? {} : { closeWhen: options.closeWhen }),
  };
}

/** Waits for the end of an exchange. Records the exchange, or only its rate-limit sample. */
async function finishAndRecord(
  { time, recorder, pacer, guard, outages, since }: SharedClientState,
  key: TargetKey,
  call: ClientRequest,
  { opened, finished }: Pick<PendingExchange, "opened" | "finished">,
  recorded: "exchange" | "sample",
): Promise<{ exchange: Exchange; sample: Sample }> {
  let headClockMs = time.maxClockOffsetMs();
  void opened.then(() => {
    headClockMs = time.maxClockOffsetMs();
  });
  const examined = await outages.examine(await finished);
  const exchange: Exchange = {
    ...examined,
    ...(since === firstRequirements ? {} : { since }),
    ...(call.options.keyState === undefined ? {} : { keyState: call.options.keyState }),
  };
  const sample = sampleOf(exchange, headClockMs, time.maxClockOffsetMs());
  if (recorded === "exchange" || isLostWithTarget(exchange)) recorder.record(exchange, sample);
  else recorder.recordSample(exchange.key, sample);
  if (usesClientKey(call)) pacer.observe(key, sample);
  guard.observe(call, exchange);
  if (recorded === "exchange") pacer.slowdown.observe(exchange);
  return { exchange, sample };
}

function headersOf(key: TargetKey, options: SendOptions): Header[] {
  // A target without keys has one with an empty text. It gets no other key either.
  const given = options.authorization === undefined ? `Bearer ${key.key}` : options.authorization;
  const authorization = key.key === "" ? null : given;
  const hasBody = options.json !== undefined || options.text !== undefined;
  return [
    ...(authorization === null ? [] : [["Authorization", authorization] as const]),
    ["Accept", options.accept ?? "application/json"],
    ...(hasBody ? [["Content-Type", options.contentType ?? "application/json"] as const] : []),
    ...(typeof options.headers === "function" ? options.headers() : (options.headers ?? [])),
  ];
}

/** Keeps all clients of a run within the run's bounds, and refuses to send once the target no longer responds. */
interface SendGuard {
  /** Counts a request, and returns how many executions it may start. Throws if the run must not send it. */
  readonly admit: (call: ClientRequest) => number;
  /** Must be called with the exchange of each admitted request. */
  readonly observe: (call: ClientRequest, exchange: Exchange) => void;
  readonly timeouts: TimeoutPolicy;
}

/** Returns how many agent executions a request may start: none without a query, which the target must refuse. */
function possibleExecutions(call: ClientRequest): number {
  if (!usesClientKey(call) || call.method !== "POST") return 0;
  return queriesIn(call.options.text ?? JSON.stringify(call.options.json) ?? "");
}

function openGuard({ maxRequests, maxExecutions, readOnly, recorder, signal, time }: ClientContext): SendGuard {
  const timeouts = createTimeoutPolicy(time.now);
  let [sent, unreachable, executing] = [0, 0, 0];
  // Without the bound `maxExecutions`, the number is not needed, so no body is parsed for it.
  const executionsOf = maxExecutions === null ? () => 0 : possibleExecutions;
  return {
    timeouts,
    admit: (call) => {
      signal.throwIfAborted();
      if (readOnly && call.method !== "GET") throw new SkipError(readOnlySkip.reason, readOnlySkip.needs);
      if (unreachable >= maxUnreachable) throw new TargetUnavailable("the target no longer accepts connections");
      const reasonToStop = timeouts.reasonToStop();
      if (reasonToStop !== null) throw new TargetUnavailable(reasonToStop);
      if (sent >= maxRequests)
        throw new RequestBudgetExhausted({ why: "requests used up", most: maxRequests }, need("maxRequests"));
      const executions = executionsOf(call);
      if (executions > 0 && maxExecutions !== null && recorder.executions() + executing + executions > maxExecutions)
        throw new ExecutionBudgetExhausted({ why: "executions used up", most: maxExecutions }, need("maxExecutions"));
      executing += executions;
      sent += 1;
      return executions;
    },
    observe: (call, exchange) => {
      executing -= executionsOf(call);
      if (isLostWithTarget(exchange)) return;
      unreachable = isUnreachable(exchange) ? unreachable + 1 : 0;
      // A probe may set short deadlines on purpose, so a timeout then says nothing about the target.
      if (call.options.deadlines === undefined) timeouts.observe(exchange);
    },
  };
}

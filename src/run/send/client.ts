import { setTimeout as sleep } from "node:timers/promises";

import { encodedSegment } from "../../base/path-segment.ts";
import type { RunBounds } from "../plan/bounds.ts";
import type { Exchange, Header, StreamEvent } from "../../evidence/exchange.ts";
import type { Sample } from "../../rules/limits/sample.ts";
import { headerNames } from "../../spec/headers.ts";
import type { RoleAssignment, TargetKey } from "../../target/target.ts";
import type { Deadlines } from "../../wire/deadlines.ts";
import { retryAfterSeconds, sampleOf, wholeNumberHeader } from "../../rules/limits/sample.ts";
import type { OutgoingRequest, Transport, PendingExchange } from "../../wire/transport.ts";
import { type SkipReason, need, SkipError } from "../skip-reason.ts";
import { isLastEvent, type TimeoutPolicy, createTimeoutPolicy } from "./timeout-policy.ts";
import type { Pacer } from "./pacing.ts";
import type { Recorder } from "./recorder.ts";
import { hasTooLongHead, hasTimedOut, isConnectionLost, mayRetry } from "./retry.ts";
import type { RunClock } from "../time/run-clock.ts";
import { WaitRefused } from "../time/wait-budget.ts";

/** The run has sent `maxRequests` requests. */
export class RequestBudgetExhausted extends SkipError {
  override readonly name = "BudgetSpent";
}

/** The run has caused `maxExecutions` agent executions. Other requests can still be sent. */
export class ExecutionBudgetExhausted extends SkipError {
  override readonly name = "ExecutionsSpent";
}

/** The skip reason of everything but GET in a read-only run. */
export const readOnlyRun: SkipReason = { reason: { why: "read only" }, needs: need("readOnly") };

/** The target no longer responds, so the run stops. */
export class TargetUnavailable extends SkipError {
  override readonly name = "TargetGone";
}

/** The URL standard would change the path, so no client can send it as it is. */
export class UnsendablePath extends SkipError {
  override readonly name = "UnsendablePath";
}

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
  /** Sends at once, even if the key has no request left. For probes that test limits, and want a 429. */
  readonly unpaced?: boolean;
  /** The path starts at the origin, not at the base URL. */
  readonly fromOrigin?: boolean;
  readonly deadlines?: Partial<Deadlines>;
  /** Never sends the request again, because the probe counts its effects. */
  readonly noRetry?: true;
  /** Closes the stream once this returns true for the events so far. */
  readonly closeWhen?: (events: readonly StreamEvent[]) => boolean;
}

/** Sends requests to the target with one of its keys, and records them. */
export interface Client {
  readonly key: TargetKey;
  readonly as: (key: TargetKey) => Client;
  readonly send: (method: string, path: string, options?: SendOptions) => Promise<Exchange>;
  /** Starts a request without pacing, and without waiting for its end. */
  readonly open: (method: string, path: string, options?: SendOptions) => PendingExchange;
  /** Sends without pacing, and records only the rate-limit sample. */
  readonly sample: (method: string, path: string, options?: SendOptions) => Promise<Sample>;
  /** The body of a role assignment takes precedence over `body`. */
  readonly invoke: (agent: string | RoleAssignment, body: object, options?: SendOptions) => Promise<Exchange>;
  readonly stream: (agent: string | RoleAssignment, body: object, options?: SendOptions) => Promise<Exchange>;
  readonly health: (agent: string, options?: SendOptions) => Promise<Exchange>;
}

export interface ClientContext extends Omit<RunBounds, "maxTimeMs"> {
  readonly baseUrl: string;
  readonly transport: Transport;
  readonly recorder: Recorder;
  readonly pacer: Pacer;
  readonly time: RunClock;
  readonly maxRequests: number;
  readonly signal: AbortSignal;
}

/**
 * Whether an id can be one segment of a URL path. URLs drop `.` and `..`, escaped ones too, and replace lone
 * surrogates. Source: WHATWG URL, 4.1.
 */
export const isSegment = (id: string): boolean => !/^\.{1,2}$/.test(id) && id.isWellFormed();

/** Path of an agent's endpoint, below the base URL. A role assignment may have a path of its own. */
export function agentPath(who: string | RoleAssignment, endpoint: "invoke" | "stream" | "health"): string {
  const { agent, path } = typeof who === "string" ? { agent: who, path: null } : who;
  const template = path ?? "/agents/{agent_id}/{endpoint}";
  return template.replaceAll("{agent_id}", () => encodedSegment(agent)).replaceAll("{endpoint}", endpoint);
}

/** The body of a request. The fields of a role assignment take precedence. */
export const bodyFor = (who: string | RoleAssignment, body: object): object =>
  typeof who === "string" ? body : { ...body, ...who.body };

/** Retries after an unexpected 429. */
const mostTries = 2;
/** The target counts as gone after this many failed connections in a row. */
const mostUnreachable = 5;

/** State that all clients of a run share. */
interface Link extends ClientContext {
  readonly gate: Gate;
}

export function openClient(parts: ClientContext, key: TargetKey): Client {
  return clientWith({ ...parts, gate: openGate(parts) }, key);
}

function clientWith(link: Link, key: TargetKey): Client {
  const send: Client["send"] = (method, path, options = {}) => sendPatiently(link, key, { method, path, options });
  return {
    key,
    as: (other) => clientWith(link, other),
    send,
    open: (method, path, options = {}) => {
      const launched = launch(link, key, { method, path, options });
      const finished = settle(link, key, launched, "exchange").then(({ exchange }) => exchange);
      return { ...launched, finished };
    },
    sample: async (method, path, options = {}) =>
      (await settle(link, key, launchLean(link, key, { method, path, options }), "sample")).sample,
    invoke: (agent, body, options = {}) =>
      send("POST", agentPath(agent, "invoke"), { json: bodyFor(agent, body), ...options }),
    stream: (agent, body, options = {}) =>
      send("POST", agentPath(agent, "stream"), { json: bodyFor(agent, body), accept: "text/event-stream", ...options }),
    health: (agent, options = {}) => send("GET", agentPath(agent, "health"), options),
  };
}

interface Call {
  readonly method: string;
  readonly path: string;
  readonly options: SendOptions;
}

/** Whether the call uses the client's key, and so counts against its limits. */
const isKeyed = ({ options }: Call): boolean => options.authorization === undefined;
const isHealth = ({ path }: Call): boolean => path.endsWith("/health");

/** Sends a call. After an unexpected 429, waits as the response says and retries a few times. */
async function sendPatiently(link: Link, key: TargetKey, call: Call): Promise<Exchange> {
  for (let tries = 0; ; tries++) {
    const exchange = await sendSafely(link, key, call);
    const isLimited = exchange.answer.kind === "answered" && exchange.answer.status === 429;
    if (!isLimited || call.options.unpaced === true || tries >= mostTries || isHealth(call)) return exchange;
    if (isKeyed(call) && isForSlots(exchange)) continue;
    try {
      await link.time.passTime(((retryAfterSeconds(exchange) ?? 1) + 0.2) * 1000, "the target answered 429");
    } catch (error) {
      if (error instanceof WaitRefused) return exchange;
      throw error;
    }
  }
}

/** Real time that a server may take to free a slot, even with a test clock. */
const lateSlotMs = 400;

/** Whether a 429 refuses a concurrent request: the window still has requests left. */
const isForSlots = (exchange: Exchange): boolean =>
  exchange.answer.kind === "answered" &&
  exchange.answer.status === 429 &&
  (wholeNumberHeader(exchange, headerNames.rateRemaining) ?? 0) > 0 &&
  (retryAfterSeconds(exchange) ?? 0) <= 2;

/** Pauses before each retry, in real time. */
const restMs = { lost: [50, 500], hung: [2000] } as const;

/**
 * Sends a call. Retries it after a broken connection, or a timeout of a slow target, if a repetition does no harm.
 */
async function sendSafely(link: Link, key: TargetKey, call: Call): Promise<Exchange> {
  let exchange = await sendOnce(link, key, call);
  if (!mayRetry(call.method, call.path, call.options)) return exchange;
  for (const ms of restMs.lost) {
    if (!isConnectionLost(exchange) || hasTooLongHead(exchange)) break;
    link.recorder.countLost();
    await link.time.sleepReal(ms);
    exchange = await sendOnce(link, key, call);
  }
  for (const ms of restMs.hung) {
    if (!hasTimedOut(exchange) || !link.pacer.slowdown.isSlow()) break;
    await link.time.sleep(ms);
    exchange = await sendOnce(link, key, call);
  }
  if (hasTimedOut(exchange)) link.pacer.slowdown.countUnanswered();
  return exchange;
}

async function sendOnce(link: Link, key: TargetKey, call: Call): Promise<Exchange> {
  const isFree = call.options.unpaced === true || !isKeyed(call) || isHealth(call);
  const done = isFree ? () => {} : await link.pacer.acquire(key);
  try {
    const { exchange } = await settle(link, key, launch(link, key, call), "exchange");
    // Keeps the turn, so that no other request takes the slot at once.
    if (!isFree && isForSlots(exchange)) await sleep(lateSlotMs);
    return exchange;
  } finally {
    done();
  }
}

/** Paths that the URL standard does not change. Nearly all paths match. */
const plainPath = /^[\w/?=&-]*$/;

type Launched = PendingExchange & { readonly keyed: boolean; readonly call: Call };
type Sending = Pick<Launched, "opened" | "finished" | "keyed" | "call">;

/** Refuses a path that would reach another URL than its record says. Runs before the request is counted. */
function checkPath({ path }: Call): void {
  if (plainPath.test(path)) return;
  const lost = path
    .replace(/[?].*/s, "")
    .split("/")
    .find((segment) => !isSegment(segment.replaceAll(/%2e/gi, ".")));
  if (lost === undefined) return;
  throw new UnsendablePath(`${path} cannot be sent: the segment \`${lost}\` is taken out of every URL`);
}

function launch(link: Link, key: TargetKey, call: Call): Launched {
  checkPath(call);
  link.gate(call);
  return { ...link.transport.open(outgoingOf(link, key, call)), keyed: isKeyed(call), call };
}

function launchLean(link: Link, key: TargetKey, call: Call): Sending {
  checkPath(call);
  link.gate(call);
  return { ...link.transport.openFast(outgoingOf(link, key, call)), keyed: isKeyed(call), call };
}

function outgoingOf({ gate, baseUrl, pacer }: Link, key: TargetKey, call: Call): OutgoingRequest {
  const { method, path, options } = call;
  return {
    method,
    url: (options.fromOrigin === true ? new URL(baseUrl).origin : baseUrl) + path,
    key: isKeyed(call) ? key.name : null,
    body: options.text ?? (options.json === undefined ? null : JSON.stringify(options.json)),
    headers: headersOf(key, options),
    // A target that has slowed down gets the full time. An endpoint that never responds does not.
    deadlines: { ...(pacer.slowdown.isSlow() ? {} : gate.patience.deadlinesFor(method, path)), ...options.deadlines },
    closing: { isLast: isLastEvent, ...gate.patience.streamCloseTimeout() },
    ...(options.closeWhen === undefined ? {} : { closeWhen: options.closeWhen }),
  };
}

/** Waits for the end of an exchange. Records the exchange, or only its rate-limit sample. */
async function settle(
  { time, recorder, pacer, gate }: Link,
  key: TargetKey,
  launched: Sending,
  kept: "exchange" | "sample",
): Promise<{ exchange: Exchange; sample: Sample }> {
  let headClockMs = time.maxClockOffsetMs();
  void launched.opened.then(() => {
    headClockMs = time.maxClockOffsetMs();
  });
  const exchange = await launched.finished;
  const sample = sampleOf(exchange, headClockMs, time.maxClockOffsetMs());
  if (kept === "exchange") recorder.record(exchange, sample);
  else recorder.recordSample(exchange.key, sample);
  if (launched.keyed) pacer.observe(key, sample);
  gate.saw(launched.call, exchange);
  if (kept === "exchange") pacer.slowdown.observe(exchange);
  return { exchange, sample };
}

function headersOf(key: TargetKey, options: SendOptions): Header[] {
  const authorization = options.authorization === undefined ? `Bearer ${key.key}` : options.authorization;
  const hasBody = options.json !== undefined || options.text !== undefined;
  return [
    ...(authorization === null ? [] : [["Authorization", authorization] as const]),
    ["Accept", options.accept ?? "application/json"],
    ...(hasBody ? [["Content-Type", options.contentType ?? "application/json"] as const] : []),
    ...(typeof options.headers === "function" ? options.headers() : (options.headers ?? [])),
  ];
}

/** Called before every request. Throws if the run must not send it. */
interface Gate {
  (call: Call): void;
  readonly saw: (call: Call, exchange: Exchange) => void;
  readonly patience: TimeoutPolicy;
}

/** Whether a request makes agents run, for one invoke, one stream or a batch. A request without a query does not. */
const mayExecute = ({ path, options }: Call): boolean =>
  isKeyed({ method: "", path, options }) &&
  /\/(invoke|stream|batch)$/.test(path) &&
  (options.text?.includes("query") ?? /"query":|"batch":/.test(JSON.stringify(options.json) ?? ""));

function openGate({ maxRequests, maxExecutions, readOnly, recorder, signal, time }: ClientContext): Gate {
  const patience = createTimeoutPolicy(time.now);
  let sent = 0;
  let unreachable = 0;
  let executing = 0;
  const most = maxExecutions ?? Number.POSITIVE_INFINITY;
  const pass = (call: Call): void => {
    const { method } = call;
    signal.throwIfAborted();
    if (readOnly && method !== "GET") throw new SkipError(readOnlyRun.reason, readOnlyRun.needs);
    if (unreachable >= mostUnreachable) throw new TargetUnavailable("the target no longer accepts connections");
    const exhausted = patience.reasonToStop();
    if (exhausted !== null) throw new TargetUnavailable(exhausted);
    if (sent >= maxRequests)
      throw new RequestBudgetExhausted({ why: "requests used up", most: maxRequests }, need("maxRequests"));
    if (mayExecute(call)) {
      if (recorder.executions() + executing >= most)
        throw new ExecutionBudgetExhausted({ why: "executions used up", most }, need("maxExecutions"));
      executing += 1;
    }
    sent += 1;
  };
  const saw = (call: Call, exchange: Exchange): void => {
    const { answer } = exchange;
    if (mayExecute(call)) executing -= 1;
    unreachable = answer.kind === "unanswered" && answer.reason === "unreachable" ? unreachable + 1 : 0;
    // Deadlines that a probe sets itself say nothing about the target.
    if (call.options.deadlines === undefined) patience.observe(exchange);
  };
  return Object.assign(pass, { saw, patience });
}

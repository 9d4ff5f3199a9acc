import { setTimeout as sleep } from "node:timers/promises";

import { encodedSegment } from "../../base/path-segment.ts";
import type { RunBounds } from "../plan/bounds.ts";
import type { Exchange, Header, StreamEvent } from "../../evidence/exchange.ts";
import type { Sample } from "../../rules/limits/sample.ts";
import { headerNames } from "../../spec/headers.ts";
import type { RoleAssignment, TargetKey } from "../../target/target.ts";
import type { Deadlines } from "../../wire/deadlines.ts";
import { retryAfterSeconds, sampleOf, wholeNumberHeader } from "../../rules/limits/sampling.ts";
import type { OutgoingRequest, Transport, PendingExchange } from "../../wire/transport.ts";
import { type SkipReason, need, SkipError } from "../skip-reason.ts";
import { isLastEvent, type TimeoutPolicy, createTimeoutPolicy } from "./timeout-policy.ts";
import type { Pacer } from "./pacing.ts";
import type { Recorder } from "./recorder.ts";
import { hasTooLongHead, hasTimedOut, isConnectionLost, mayRetry } from "./retry.ts";
import type { RunClock } from "../time/run-clock.ts";
import { WaitRefused } from "../time/wait-budget.ts";

/** The run was told to send no more than so many requests. */
export class RequestBudgetExhausted extends SkipError {
  override readonly name = "BudgetSpent";
}

/** The run was told to let agents run no more often. What runs none goes on. */
export class ExecutionBudgetExhausted extends SkipError {
  override readonly name = "ExecutionsSpent";
}

/** Why a run that is told to read only does not do the rest. */
export const readOnlyRun: SkipReason = { reason: { why: "read only" }, needs: need("readOnly") };

/** The target has stopped answering; there is no point in going on. */
export class TargetUnavailable extends SkipError {
  override readonly name = "TargetGone";
}

/** A path that no client sends as it stands. */
export class UnsendablePath extends SkipError {
  override readonly name = "UnsendablePath";
}

export interface SendOptions {
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent as it is. */
  readonly text?: string;
  readonly accept?: string;
  readonly contentType?: string;
  /** Further headers; a function is asked when the request is really sent, after any wait. */
  readonly headers?: readonly Header[] | (() => readonly Header[]);
  /** The whole value of the `Authorization` header, instead of the client's key; `null` sends none. */
  readonly authorization?: string | null;
  /** The probe tests the limits: the request does not wait for room, and a 429 is evidence. */
  readonly unpaced?: boolean;
  /** The path begins at the origin, not below the base URL. */
  readonly fromOrigin?: boolean;
  readonly deadlines?: Partial<Deadlines>;
  /** What it does is counted: it is sent once, whatever becomes of it. */
  readonly noRetry?: true;
  /** Closes a stream on purpose once it is true of the events so far. */
  readonly closeWhen?: (events: readonly StreamEvent[]) => boolean;
}

/** Sends requests below the target's base URL, with one of its keys, and records them. */
export interface Client {
  readonly key: TargetKey;
  readonly as: (key: TargetKey) => Client;
  readonly send: (method: string, path: string, options?: SendOptions) => Promise<Exchange>;
  /** Starts a request without waiting for its end, and without pacing. */
  readonly open: (method: string, path: string, options?: SendOptions) => PendingExchange;
  /** Sends unpaced, and keeps only what the limiter showed. */
  readonly sample: (method: string, path: string, options?: SendOptions) => Promise<Sample>;
  /** A player is asked what makes it play: that goes before what the probe asks. */
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

/** Whether an id stays one segment of a path: a URL loses `..` and `../..`, escaped ones too, and halves of surrogate pairs. Source: WHATWG URL, 4.1. */
export const isSegment = (id: string): boolean => !/^\.{1,2}$/.test(id) && id.isWellFormed();

/** Path of an agent's endpoint below the base URL; of a player, where it is asked. */
export function agentPath(who: string | RoleAssignment, endpoint: "invoke" | "stream" | "health"): string {
  const { agent, path } = typeof who === "string" ? { agent: who, path: null } : who;
  const template = path ?? "/agents/{agent_id}/{endpoint}";
  return template.replaceAll("{agent_id}", () => encodedSegment(agent)).replaceAll("{endpoint}", endpoint);
}

/** What is asked: of a player what makes it play, before what a probe would ask. */
export const bodyFor = (who: string | RoleAssignment, body: object): object =>
  typeof who === "string" ? body : { ...body, ...who.body };

/** How often a request that met an unasked-for 429 is sent again after its `retry_after`. */
const mostTries = 2;
/** So many requests in a row without a connection mean that the target is gone. */
const mostUnreachable = 5;

/** What every client of a run shares. */
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

/** Whether a call draws on a key's allowance, as far as the document says. */
const isKeyed = ({ options }: Call): boolean => options.authorization === undefined;
const isHealth = ({ path }: Call): boolean => path.endsWith("/health");

/** Sends; where an unasked-for 429 comes, waits as it says and sends again, a few times. */
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

/** Real time in which a server may still give slots back, whatever its clock says. */
const lateSlotMs = 400;

/** A 429 that leaves room in the window is one for too many requests at once. */
const isForSlots = (exchange: Exchange): boolean =>
  exchange.answer.kind === "answered" &&
  exchange.answer.status === 429 &&
  (wholeNumberHeader(exchange, headerNames.rateRemaining) ?? 0) > 0 &&
  (retryAfterSeconds(exchange) ?? 0) <= 2;

/** Real time in which a connection, or a target that is too busy, comes to rest. */
const restMs = { lost: [50, 500], hung: [2000] } as const;

/** Sends once more what the network lost, or what a target was too slow for, where that does no harm. */
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
    // Nobody else takes the turn meanwhile, or the slots would be taken again.
    if (!isFree && isForSlots(exchange)) await sleep(lateSlotMs);
    return exchange;
  } finally {
    done();
  }
}

/** As nearly all are: nothing in it is lost on the way. */
const plainPath = /^[\w/?=&-]*$/;

type Launched = PendingExchange & { readonly keyed: boolean; readonly call: Call };
type Sending = Pick<Launched, "opened" | "finished" | "keyed" | "call">;

/** Before the request is counted: it would reach another path than the one that it is a record of. */
function checkPath({ path }: Call): void {
  if (plainPath.test(path)) return;
  const lost = path
    .replace(/[?].*/s, "")
    .split("/")
    .find((segment) => !isSegment(segment.replaceAll(/%2e/gi, "..")));
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
    // A target that slows down has all the time there is; what never answers at all has not.
    deadlines: { ...(pacer.slowdown.isSlow() ? {} : gate.patience.deadlinesFor(method, path)), ...options.deadlines },
    closing: { isLast: isLastEvent, ...gate.patience.streamCloseTimeout() },
    ...(options.closeWhen === undefined ? {} : { closeWhen: options.closeWhen }),
  };
}

/** Waits for the end of an exchange and records it, or only what the limiter showed in it. */
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

/** Stands before every request: throws where the run must send no more. */
interface Gate {
  (call: Call): void;
  readonly saw: (call: Call, exchange: Exchange) => void;
  readonly patience: TimeoutPolicy;
}

/** Whether a request asks an agent, or a batch of them, for work with the run's key: one that lacks its query asks for none. */
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
    // A probe's own deadlines say nothing of the target.
    if (call.options.deadlines === undefined) patience.observe(exchange);
  };
  return Object.assign(pass, { saw, patience });
}

import { isLoopback } from "../base/network/network.ts";
import type { Exchange, Header } from "../evidence/exchange.ts";
import { userAgent } from "../base/package-root.ts";
import { publishedEndpoints } from "../spec/endpoints.ts";
import type { HarnessLimitError } from "../base/harness-limit.ts";
import { sampleOf } from "../rules/limits/sample.ts";
import type { Target, TargetKey } from "../target/target.ts";
import { acceptsConnection } from "../wire/accepts-connection.ts";
import type { Deadlines } from "../wire/deadlines.ts";
import { openTransport, type OutgoingRequest } from "../wire/transport.ts";
import { defaultBounds, maxRequestsFor, type RunBounds } from "./plan/bounds.ts";
import { limitsOf } from "./plan/key-limits.ts";
import type { ClientContext } from "./send/send-request.ts";
import { type Pacer, startPacer } from "./send/pacer.ts";
import { defaultDeadAfterMs, defaultIdlePollMs, noOutages, type Outage, watchOutages } from "./send/outages.ts";
import { type Recorder, startRecorder } from "./send/recorder.ts";
import { isGatewayError } from "./send/retry.ts";
import { type RunClock, startRunClock, type Timers } from "./time/run-clock.ts";
import { type Client, openClient } from "./send/client.ts";

export interface SendingOptions extends Partial<RunBounds> {
  readonly target: Target;
  /** Stops the run early. The evidence so far is then judged. */
  readonly signal: AbortSignal;
  readonly deadlines?: Partial<Deadlines>;
  /** Start of the run. If given, each `User-Agent` contains it: server logs then show which run sent a request. */
  readonly started?: Date;
  readonly coverageSeed?: number;
  /** Time for which the target may refuse connections before the run gives up, in milliseconds. Default: 8000. */
  readonly deadAfterMs?: number;
  readonly onWait?: (ms: number, why: string) => void;
  /** The source of real time. Default: the machine's clock. */
  readonly timers?: Timers;
}

export interface RunContextOptions extends SendingOptions {
  /** Called to stop the run if this machine lacks a resource, such as a free port. */
  readonly onHarnessLimit: (limit: HarnessLimitError) => void;
}

export function createContext(options: RunContextOptions): ClientContext {
  const bounds = { ...defaultBounds, ...options };
  const { target, signal, maxWaitMs } = bounds;
  const time = startRunClock({
    clock: target.clock,
    maxWaitMs,
    signal,
    onWait: options.onWait,
    timers: options.timers,
  });
  const recorder = startRecorder();
  const outages = watchOutages({
    now: time.now,
    connect: () => acceptsConnection(target.baseUrl, target.network, options.onHarnessLimit),
    repeat: (exchange, during) => repeatExchange(exchange, during, { transport, recorder, time }),
    sleep: (ms) => time.sleepReal(ms),
    onReturn: () => recorder.countOutage(time.now()),
    deadAfterMs: options.deadAfterMs ?? defaultDeadAfterMs,
    idlePollMs: defaultIdlePollMs[isLoopback(target.baseUrl) ? "loopback" : "elsewhere"],
  });
  const transport = openTransport({
    now: time.now,
    clockOffsetMs: time.clockOffsetMs,
    network: target.network,
    onHarnessLimit: options.onHarnessLimit,
    senderHeaders: senderHeadersOf(options),
    onResend: (exchange) => {
      recorder.countLost();
      outages.observeResent(exchange);
      recorder.record(exchange, sampleOf(exchange, time.maxClockOffsetMs()));
    },
    ...(options.deadlines && { deadlines: options.deadlines }),
  });
  const pacer = startPacer(time, (each) => limitsOf(each, target));
  const maxRequests = maxRequestsFor(bounds.maxRequests, target);
  return {
    ...bounds,
    baseUrl: target.baseUrl,
    requestTarget: target,
    transport,
    recorder,
    pacer,
    time,
    outages,
    maxRequests,
  };
}

type SentRequest = Pick<OutgoingRequest, "method" | "url">;

function senderHeadersOf({ started, requestIds }: SendingOptions): (id: string, request: SentRequest) => Header[] {
  const agent: Header = ["User-Agent", userAgent(started)];
  const run = started === undefined ? "" : `${started.toISOString()}-`;
  return (id, request) =>
    requestIds === true && !mayRunAgent(request) ? [agent, ["X-Request-Id", `${run}${id}`]] : [agent];
}

const { webhooks, alerts } = publishedEndpoints;
const mayRunAgent = ({ method, url }: SentRequest): boolean =>
  method === "POST" && !url.endsWith(webhooks.path) && !url.endsWith(alerts.path);

/**
 * Sends a recorded request again. Marks the new exchange with `reconnect` if the outage `during` goes on, or if the
 * target itself does not respond.
 */
async function repeatExchange(
  { key, since, request: { method, url, headers, body } }: Exchange,
  during: Outage["kind"] | null,
  { transport, recorder, time }: Pick<ClientContext, "transport" | "recorder" | "time">,
): Promise<Exchange> {
  const text = body.kind === "text" ? body.text : null;
  const sent = await transport.open({ method, url, headers, body: text, key, deadlines: { headMs: 5000 } }).finished;
  const isLost = sent.answer.kind === "unanswered" || isGatewayError(sent.answer);
  const reconnect = during ?? (isLost ? "gateway" : null);
  const exchange: Exchange = {
    ...sent,
    ...(reconnect === null ? {} : { reconnect }),
    ...(since === undefined ? {} : { since }),
  };
  recorder.record(exchange, sampleOf(exchange, time.maxClockOffsetMs()));
  return exchange;
}

interface ShortSessionOptions {
  readonly target: Target;
  readonly key: TargetKey;
  readonly maxRequests: number;
  readonly maxWaitMs: number;
  readonly readOnly?: boolean;
  readonly signal: AbortSignal;
  readonly onWait?: (ms: number, why: string) => void;
  readonly onHarnessLimit?: (limit: HarnessLimitError) => void;
}

interface ShortSession {
  readonly client: Client;
  readonly pacer: Pacer;
  readonly recorder: Recorder;
  readonly time: RunClock;
}

/** Calls `use` with a client that can send a few requests outside of a run. Closes the client afterwards. */
export async function inShortSession<T>(
  { target, key, maxRequests, maxWaitMs, readOnly = false, signal, onWait, onHarnessLimit }: ShortSessionOptions,
  use: (session: ShortSession) => Promise<T>,
): Promise<T> {
  const time = startRunClock({ clock: null, maxWaitMs, signal, onWait });
  const transport = openTransport({
    now: time.now,
    clockOffsetMs: time.clockOffsetMs,
    network: target.network,
    ...(onHarnessLimit && { onHarnessLimit }),
  });
  const pacer = startPacer(time, (each) => limitsOf(each, target));
  const recorder = startRecorder();
  const parts = {
    baseUrl: target.baseUrl,
    requestTarget: target,
    transport,
    recorder,
    pacer,
    time,
    outages: noOutages,
  };
  const stop = (): void => void transport.close();
  signal.addEventListener("abort", stop, { once: true });
  try {
    const client = openClient({ ...defaultBounds, ...parts, maxRequests, readOnly, signal }, key);
    return await use({ client, pacer, recorder, time });
  } finally {
    signal.removeEventListener("abort", stop);
    await transport.close();
  }
}

import type { Exchange, Header, StreamEvent } from "../evidence/exchange.ts";
import type { Sample } from "../evidence/sample.ts";
import type { TargetKey } from "../target/target.ts";
import type { Deadlines } from "../wire/deadlines.ts";
import { retryAfterSeconds, sampleOf } from "../wire/sampling.ts";
import type { Transport, Underway } from "../wire/transport.ts";
import type { Pacer } from "./pacing.ts";
import type { Recorder } from "./recorder.ts";
import { type RunTime, WaitRefused } from "./time.ts";

/** The run was told to send no more than so many requests. */
export class BudgetSpent extends Error {
  override readonly name = "BudgetSpent";
}

/** The target has stopped answering; there is no point in going on. */
export class TargetGone extends Error {
  override readonly name = "TargetGone";
}

export interface SendOptions {
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent as it is. */
  readonly text?: string;
  readonly accept?: string;
  readonly contentType?: string;
  readonly headers?: readonly Header[];
  /** The whole value of the `Authorization` header, instead of the client's key; `null` sends none. */
  readonly authorization?: string | null;
  /** The probe tests the limits: the request does not wait for room, and a 429 is evidence. */
  readonly unpaced?: boolean;
  readonly deadlines?: Partial<Deadlines>;
  /** Closes a stream on purpose once it is true of the events so far. */
  readonly enough?: (events: readonly StreamEvent[]) => boolean;
}

/** Sends requests below the target's base URL, with one of its keys, and records them. */
export interface Client {
  readonly key: TargetKey;
  readonly as: (key: TargetKey) => Client;
  readonly send: (method: string, path: string, options?: SendOptions) => Promise<Exchange>;
  /** Starts a request without waiting for its end, and without pacing. */
  readonly open: (method: string, path: string, options?: SendOptions) => Underway;
  /** Sends unpaced, and keeps only what the limiter showed. */
  readonly sample: (method: string, path: string, options?: SendOptions) => Promise<Sample>;
  readonly invoke: (agent: string, body: object, options?: SendOptions) => Promise<Exchange>;
  readonly stream: (agent: string, body: object, options?: SendOptions) => Promise<Exchange>;
  readonly health: (agent: string, options?: SendOptions) => Promise<Exchange>;
}

export interface ClientParts {
  readonly baseUrl: string;
  readonly transport: Transport;
  readonly recorder: Recorder;
  readonly pacer: Pacer;
  readonly time: RunTime;
  readonly maxRequests: number;
  readonly signal: AbortSignal;
}

/** Path of an agent's endpoint below the base URL. */
export const agentPath = (agent: string, endpoint: "invoke" | "stream" | "health"): string =>
  `/agents/${encodeURIComponent(agent)}/${endpoint}`;

/** How often a request that met an unasked-for 429 is sent again after its `retry_after`. */
const patience = 2;
/** So many requests in a row without a connection mean that the target is gone. */
const mostUnreachable = 5;

export function openClient(parts: ClientParts, key: TargetKey): Client {
  const gate = openGate(parts);
  const make = (current: TargetKey): Client => {
    const launch = (method: string, path: string, options: SendOptions): { underway: Underway; isKeyed: boolean } => {
      gate();
      const isKeyed = options.authorization === undefined;
      const underway = parts.transport.open({
        method,
        url: parts.baseUrl + path,
        key: isKeyed ? current.name : null,
        body: options.text ?? (options.json === undefined ? null : JSON.stringify(options.json)),
        headers: headersOf(current, options),
        deadlines: { ...gate.deadlinesFor(path), ...options.deadlines },
        ...(options.enough === undefined ? {} : { enough: options.enough }),
      });
      return { underway, isKeyed };
    };

    const settle = async (
      { underway, isKeyed }: { underway: Underway; isKeyed: boolean },
      keepExchange: boolean,
    ): Promise<{ exchange: Exchange; sample: Sample }> => {
      let headClockMs = parts.time.clockMs();
      void underway.opened.then(() => {
        headClockMs = parts.time.clockMs();
      });
      const exchange = await underway.finished;
      const sample = sampleOf(exchange, headClockMs, parts.time.clockMs());
      if (keepExchange) parts.recorder.keep(exchange, sample);
      else parts.recorder.keepSample(exchange.key, sample);
      if (isKeyed) parts.pacer.saw(current, sample);
      gate.saw(exchange);
      return { exchange, sample };
    };

    const once = async (method: string, path: string, options: SendOptions): Promise<Exchange> => {
      const isFree = options.unpaced === true || options.authorization !== undefined || path.endsWith("/health");
      const done = isFree ? () => {} : await parts.pacer.turn(current);
      try {
        return (await settle(launch(method, path, options), true)).exchange;
      } finally {
        done();
      }
    };

    const send = async (method: string, path: string, options: SendOptions = {}): Promise<Exchange> => {
      for (let tries = 0; ; tries++) {
        const exchange = await once(method, path, options);
        const isLimited = exchange.answer.kind === "answered" && exchange.answer.status === 429;
        if (!isLimited || options.unpaced === true || tries >= patience || path.endsWith("/health")) return exchange;
        try {
          await parts.time.wait(((retryAfterSeconds(exchange) ?? 1) + 0.2) * 1000, "the target answered 429");
        } catch (error) {
          if (error instanceof WaitRefused) return exchange;
          throw error;
        }
      }
    };

    const open = (method: string, path: string, options: SendOptions = {}): Underway => {
      const launched = launch(method, path, options);
      const finished = settle(launched, true).then(({ exchange }) => exchange);
      return { ...launched.underway, finished };
    };

    return {
      key: current,
      as: make,
      send,
      open,
      sample: async (method, path, options = {}) => (await settle(launch(method, path, options), false)).sample,
      invoke: (agent, body, options = {}) => send("POST", agentPath(agent, "invoke"), { json: body, ...options }),
      stream: (agent, body, options = {}) =>
        send("POST", agentPath(agent, "stream"), { json: body, accept: "text/event-stream", ...options }),
      health: (agent, options = {}) => send("GET", agentPath(agent, "health"), options),
    };
  };
  return make(key);
}

function headersOf(key: TargetKey, options: SendOptions): Header[] {
  const authorization = options.authorization === undefined ? `Bearer ${key.key}` : options.authorization;
  const hasBody = options.json !== undefined || options.text !== undefined;
  return [
    ...(authorization === null ? [] : [["Authorization", authorization] as const]),
    ["Accept", options.accept ?? "application/json"],
    ...(hasBody ? [["Content-Type", options.contentType ?? "application/json"] as const] : []),
    ...(options.headers ?? []),
  ];
}

/** Stands before every request: throws where the run must send no more. */
interface Gate {
  (): void;
  readonly saw: (exchange: Exchange) => void;
  /** Shorter deadlines for an endpoint that has been silent before, so that it cannot use up the time of the run. */
  readonly deadlinesFor: (path: string) => Partial<Deadlines>;
}

const endpointOf = (path: string): string => path.replace(/[?].*/, "").split("/").at(-1) ?? "";
/** So many silences of an endpoint are met with full patience. */
const mostSilent = 2;
const shortDeadlines = { headMs: 4000, silenceMs: 4000, exchangeMs: 10_000 } as const;

function openGate({ maxRequests, signal }: ClientParts): Gate {
  let sent = 0;
  let unreachable = 0;
  const silent = new Map<string, number>();
  const pass = (): void => {
    signal.throwIfAborted();
    if (unreachable >= mostUnreachable) throw new TargetGone("the target no longer accepts connections");
    if (sent >= maxRequests) throw new BudgetSpent(`--max-requests ${maxRequests} is used up`);
    sent += 1;
  };
  const saw = ({ request, answer }: Exchange): void => {
    unreachable = answer.kind === "unanswered" && answer.reason === "unreachable" ? unreachable + 1 : 0;
    const isSilent = answer.kind === "unanswered" ? answer.reason === "silent" : answer.ending.kind === "deadline";
    const endpoint = endpointOf(request.url);
    if (isSilent) silent.set(endpoint, (silent.get(endpoint) ?? 0) + 1);
  };
  const deadlinesFor = (path: string): Partial<Deadlines> =>
    (silent.get(endpointOf(path)) ?? 0) >= mostSilent ? shortDeadlines : {};
  return Object.assign(pass, { saw, deadlinesFor });
}

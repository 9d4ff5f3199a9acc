import { request } from "undici";
import { z } from "zod";

import { userAgent } from "../base/package-root.ts";
import { errorCodeOrText, messageOf, unconnectedCodes } from "../base/errors.ts";
import { isGatewayStatus } from "../base/http.ts";
import { openDispatchers } from "../base/network/dispatchers.ts";
import { isLoopback, type Network } from "../base/network/network.ts";
import type { HttpCall, ParsedTargetFile } from "./target-file-schema.ts";
import type { ClockControl, Target } from "./target.ts";
import { harnessLimitOf } from "../base/harness-limit.ts";
import { parseJson } from "../base/parsing.ts";

/** Timeout to connect, and to wait for data. A target may send many webhooks before it answers `clock.advance`. */
const callDeadlineMs = 30_000;
/** Default of `clock.settleMs`: real time until effects of a clock advance, such as deliveries, reach the harness. */
const defaultSettleMs = { loopback: 150, remote: 1000 } as const;

/** Thrown if an HTTP call that controls the target fails, e.g. `clock.advance` gets no response. */
export class ControlCallFailed extends Error {
  override readonly name = "ControlCallFailed";
  /** Whether a retry can help: there was no response, or the status was 502, 503 or 504. */
  readonly isTemporary: boolean;
  readonly status: number | null;

  constructor(message: string, { isTemporary, status, cause }: FailureDetails) {
    super(message, { cause });
    this.isTemporary = isTemporary;
    this.status = status ?? null;
  }

  /** Whether the target carried out the call. A lost response, a redirect or a 5xx does not show it. */
  get isCarriedOut(): "no" | "unknown" {
    const isRefused = this.status !== null && this.status >= 400 && this.status < 500;
    return isRefused || !this.isSent ? "no" : "unknown";
  }

  /** Whether the call may have reached the target. `false`: there was no connection. */
  get isSent(): boolean {
    return !unconnectedCodes.has(errorCodeOrText(this.cause));
  }
}

interface FailureDetails {
  readonly isTemporary: boolean;
  readonly status?: number;
  readonly cause?: unknown;
}

/** Creates the control of a test clock. Its `advance` sends the HTTP call `clock.advance` of the target file. */
export function clockOverHttp(
  { advance, settleMs, agentsFollow = false }: NonNullable<ParsedTargetFile["clock"]>,
  network: Network,
): ClockControl {
  return {
    advance: async (ms) => {
      await sendControlCall(advance, network, ms / 1000, "the call that advances the target's clock failed");
    },
    settleMs: settleMs ?? (isLoopback(advance.url) ? defaultSettleMs.loopback : defaultSettleMs.remote),
    agentsFollow,
  };
}

export const triggerOverHttp =
  (call: HttpCall, network: Network): (() => Promise<void>) =>
  async () => {
    await sendControlCall(call, network, 0, "the call that makes the event happen failed");
  };

/**
 * Sends an HTTP call that controls the target, e.g. `clock.advance`, and returns the response's body. Inserts `seconds`
 * for `${seconds}` and `${milliseconds}` in the call's body. Throws a `ControlCallFailed` unless the status is 2xx.
 */
export async function sendControlCall(
  call: HttpCall,
  network: Network,
  seconds: number,
  failure: string,
): Promise<string> {
  const { url, method, body } = call;
  const dispatchers = openDispatchers(network, { connectMs: callDeadlineMs, idleTimeoutMs: callDeadlineMs });
  const fail = (what: string, details: FailureDetails): ControlCallFailed =>
    new ControlCallFailed(`${failure}: ${method} ${urlWithoutQuery(url)} ${what}`, details);
  try {
    const response = await request(url, {
      dispatcher: dispatchers.of(url),
      method,
      headers: {
        "user-agent": userAgent(),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...call.headers,
      },
      body: body === undefined ? null : JSON.stringify(insertTime(body, seconds)),
    });
    const text = await response.body.text();
    const { statusCode: status } = response;
    if (status >= 300) throw fail(`answered ${status}`, { isTemporary: isGatewayStatus(status), status });
    return text;
  } catch (error) {
    if (error instanceof ControlCallFailed) throw error;
    throw fail(`got no response: ${messageOf(error)}`, { isTemporary: true, cause: error });
  } finally {
    await dispatchers.close();
  }
}

/** Returns a URL without its query, which may contain a token. */
function urlWithoutQuery(text: string): string {
  const { origin, pathname } = new URL(text);
  return origin + pathname;
}

const harmlessHeaders = new Set(["accept", "content-type", "user-agent"]);

export function secretsOfCall({ url, headers = {} }: HttpCall): string[] {
  const { searchParams, password } = new URL(url);
  const ofHeaders = Object.entries(headers).flatMap(([name, value]) =>
    harmlessHeaders.has(name.toLowerCase()) ? [] : [value.replace(/^(?:Bearer|Basic)\s+/i, "")],
  );
  return [...ofHeaders, ...searchParams.values(), password].filter(isLongEnoughForSecret);
}

/** Whether a value is long enough to be redacted. Short values, such as `yes`, also occur in other texts. */
const isLongEnoughForSecret = (value: string): boolean => value.length >= 8;

/** Replaces `${seconds}` and `${milliseconds}` in a call's body. A text that is only a placeholder becomes a number. */
function insertTime(value: unknown, seconds: number): unknown {
  if (typeof value === "string") {
    if (value === "${seconds}") return seconds;
    const milliseconds = Math.round(seconds * 1000);
    if (value === "${milliseconds}") return milliseconds;
    return value.replaceAll("${seconds}", String(seconds)).replaceAll("${milliseconds}", String(milliseconds));
  }
  if (Array.isArray(value)) return value.map((each) => insertTime(each, seconds));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, insertTime(each, seconds)]));
}

/** Parses the body of a response. Returns `null` if the body is no JSON or does not fit the schema. */
export function parseAnswer<T>(text: string, schema: z.ZodType<T>): T | null {
  const json = parseJson(text);
  return schema.safeParse(json.kind === "value" ? json.value : null).data ?? null;
}

const keyUseSchema = z.object({
  start: z.string(),
  keys: z.record(z.string(), z.object({ last_used_at: z.iso.datetime().nullable() })),
});

/**
 * Creates a function that asks the target for the names of the keys that were not used since `freshAt`. The function
 * returns no names if there is no valid response, or if the server has restarted (its `start` differs).
 */
export const unusedKeysOverHttp =
  ({ freshAt, start, ask }: NonNullable<ParsedTargetFile["freshness"]>, network: Network) =>
  async (): Promise<ReadonlySet<string>> => {
    const answer = await sendControlCall(ask, network, 0, "").catch((error: unknown) => {
      const limit = harnessLimitOf(error);
      if (limit !== null) throw limit;
      return "";
    });
    const found = parseAnswer(answer, keyUseSchema);
    if (found?.start !== start) return new Set();
    const freshMs = Date.parse(freshAt);
    // Compares with `<` instead of `<=`: if the target's clock stands still, every use of a key has the time `freshAt`.
    const isUnused = (lastUsedAt: string | null): boolean => lastUsedAt === null || Date.parse(lastUsedAt) < freshMs;
    const unused = Object.entries(found.keys).filter(([, use]) => isUnused(use.last_used_at));
    return new Set(unused.map(([name]) => name));
  };

/**
 * Marks keys with `fresh: true` as not fresh unless the target confirms that they are unused. Changes nothing if the
 * target file has no `freshness`.
 */
export async function withConfirmedFreshness(target: Target): Promise<Target> {
  if (target.unusedKeys === null || Object.values(target.keys).every(({ fresh }) => !fresh)) return target;
  const unused = await target.unusedKeys();
  const keys = Object.entries(target.keys).map(([name, key]) => [
    name,
    { ...key, fresh: key.fresh && unused.has(name) },
  ]);
  return { ...target, keys: Object.fromEntries(keys) };
}

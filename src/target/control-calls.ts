import { request } from "undici";

import { messageOf } from "../base/errors.ts";
import { isGatewayStatus } from "../base/http-status.ts";
import { openDispatchers } from "../base/network/dispatchers.ts";
import type { Network } from "../base/network/network.ts";
import { isLoopback } from "./base-url.ts";
import type { HttpCall, ParsedTargetFile } from "./file-schema.ts";
import type { ClockControl } from "./target.ts";

/** Maximum time for a call. It is long, because some targets answer an advance of their clock only after all deliveries that it causes. */
const callDeadlineMs = 30_000;
/** How long to wait after an advance of the clock until its effects have arrived, if the target file does not say. */
const defaultSettleMs = { near: 150, far: 1000 } as const;

/** Thrown if a call that the target file describes fails: the target or a gateway refused it, or nothing responded. */
export class ControlCallFailed extends Error {
  override readonly name = "ControlCallFailed";
  /** Whether the same call may succeed later, because nothing or only a gateway responded. */
  readonly isTemporary: boolean;

  constructor(message: string, { isTemporary, cause }: { readonly isTemporary: boolean; readonly cause?: unknown }) {
    super(message, { cause });
    this.isTemporary = isTemporary;
  }
}

/** A test clock that the target file's HTTP call advances. */
export function clockOverHttp(
  { advance, settleMs, agentsFollow = false }: NonNullable<ParsedTargetFile["clock"]>,
  network: Network,
): ClockControl {
  return {
    advance: async (ms) => {
      await send(advance, network, ms / 1000, "the target's clock did not advance");
    },
    settleMs: settleMs ?? (isLoopback(advance.url) ? defaultSettleMs.near : defaultSettleMs.far),
    agentsFollow,
  };
}

/** Returns a function that causes an event by an HTTP call of the target file. */
export const triggerOverHttp =
  (call: HttpCall, network: Network): (() => Promise<void>) =>
  async () => {
    await send(call, network, 0, "the call that makes the event happen failed");
  };

/**
 * Sends an HTTP call of the target file.
 *
 * @returns the body of the response
 * @throws {ControlCallFailed} if the target refuses the call, or does not respond; the message begins with `failure`
 */
export async function send(call: HttpCall, network: Network, seconds: number, failure: string): Promise<string> {
  const { url, method, body } = call;
  const dispatchers = openDispatchers(network, { connectMs: callDeadlineMs, idleTimeoutMs: callDeadlineMs });
  const fail = (what: string, details: ConstructorParameters<typeof ControlCallFailed>[1]): ControlCallFailed =>
    new ControlCallFailed(`${failure}: ${method} ${urlWithoutQuery(url)} ${what}`, details);
  try {
    const response = await request(url, {
      dispatcher: dispatchers.of(url),
      method,
      headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...call.headers },
      body: body === undefined ? null : JSON.stringify(withTime(body, seconds)),
    });
    const text = await response.body.text();
    const { statusCode } = response;
    if (statusCode >= 300) throw fail(`answered ${statusCode}`, { isTemporary: isGatewayStatus(statusCode) });
    return text;
  } catch (error) {
    if (error instanceof ControlCallFailed) throw error;
    throw fail(`got no response: ${messageOf(error)}`, { isTemporary: true, cause: error });
  } finally {
    await dispatchers.close();
  }
}

/** The URL without its query, because a query may contain a token. */
function urlWithoutQuery(text: string): string {
  const { origin, pathname } = new URL(text);
  return origin + pathname;
}

/** Headers whose values are not secret, in lower case. */
const harmlessHeaders = new Set(["accept", "content-type", "user-agent"]);

/** Secrets of a call: the values of its headers and of its query, and the password in its URL. */
export function secretsOfCall({ url, headers = {} }: HttpCall): string[] {
  const { searchParams, password } = new URL(url);
  const ofHeaders = Object.entries(headers).flatMap(([name, value]) =>
    harmlessHeaders.has(name.toLowerCase()) ? [] : [value.replace(/^(?:Bearer|Basic)\s+/i, "")],
  );
  return [...ofHeaders, ...searchParams.values(), password].filter(looksSecret);
}

/** Whether a value is long enough to be a secret. A short value such as `yes` occurs in other texts too, and must not be redacted. */
const looksSecret = (value: string): boolean => value.length >= 8;

/**
 * Replaces the placeholders `${seconds}` and `${milliseconds}` in a body. A value that consists of a placeholder alone becomes a number.
 */
function withTime(value: unknown, seconds: number): unknown {
  if (typeof value === "string") {
    if (value === "${seconds}") return seconds;
    const milliseconds = Math.round(seconds * 1000);
    if (value === "${milliseconds}") return milliseconds;
    return value.replaceAll("${seconds}", String(seconds)).replaceAll("${milliseconds}", String(milliseconds));
  }
  if (Array.isArray(value)) return value.map((each) => withTime(each, seconds));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withTime(each, seconds)]));
}

import { request } from "undici";

import { messageOf } from "../base/errors.ts";
import { isGatewayStatus } from "../base/http-status.ts";
import { openDispatchers } from "../base/network/dispatchers.ts";
import type { Network } from "../base/network/network.ts";
import { isLoopback } from "./base-url.ts";
import type { HttpCall, ParsedTargetFile } from "./file-schema.ts";
import type { ClockControl } from "./target.ts";

/** A target may answer an advance of its clock only after its deliveries have ended. */
const callDeadlineMs = 30_000;
/** How long the effects of a clock advance take to arrive if the target file does not say. */
const defaultSettleMs = { near: 150, far: 1000 } as const;

/** A call of a target file that failed: the target or a gateway refused it, or nothing responded. */
export class ControlCallFailed extends Error {
  override readonly name = "ControlCallFailed";
  /** Whether the same call may succeed later: there was no response, or that of a gateway. */
  readonly isTemporary: boolean;

  constructor(message: string, { isTemporary, cause }: { readonly isTemporary: boolean; readonly cause?: unknown }) {
    super(message, { cause });
    this.isTemporary = isTemporary;
  }
}

/** A test clock that is advanced by the HTTP call of the target file. */
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

/** A trigger that causes an event by the HTTP call of the target file. */
export const triggerOverHttp =
  (call: HttpCall, network: Network): (() => Promise<void>) =>
  async () => {
    await send(call, network, 0, "the call that makes the event happen failed");
  };

/**
 * Sends a call of a target file.
 *
 * @returns the body of the response
 * @throws {ControlCallFailed} that begins with `failure` if the call is refused, or gets no response
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

/** The URL without its query, which may contain a token. */
function urlWithoutQuery(text: string): string {
  const { origin, pathname } = new URL(text);
  return origin + pathname;
}

/** Headers whose values are no secrets. */
const harmlessHeaders = new Set(["accept", "content-type", "user-agent"]);

/** Secrets of a call: header values, query values, and the password of its URL. */
export function secretsOfCall({ url, headers = {} }: HttpCall): string[] {
  const { searchParams, password } = new URL(url);
  const ofHeaders = Object.entries(headers).flatMap(([name, value]) =>
    harmlessHeaders.has(name.toLowerCase()) ? [] : [value.replace(/^(?:Bearer|Basic)\s+/i, "")],
  );
  return [...ofHeaders, ...searchParams.values(), password].filter(looksSecret);
}

/** Whether a value is long enough for a secret. A short one, such as `yes`, occurs in other texts too. */
const looksSecret = (value: string): boolean => value.length >= 8;

/** Inserts the time. A value that is just `${seconds}` or `${milliseconds}` becomes a number. */
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

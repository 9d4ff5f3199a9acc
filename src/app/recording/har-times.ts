import { getPath } from "../../base/json.ts";
import type { Answered, Header } from "../../evidence/exchange.ts";
import { headerValue, stringAt } from "./har-body.ts";

/** When a request was sent, and when its response began and ended, in Unix milliseconds. */
export interface HarTimes {
  readonly sentMs: number;
  readonly headMs: number;
  readonly endMs: number;
  /**
   * Whether all three times may be too early: some recorders leave out how long the browser waited for a free
   * connection.
   */
  readonly mayBeLate: boolean;
}

/**
 * Reads the times of an archive's entry. Returns `null` if they are missing. Also if they may be too early, and the
 * response has no `Date` by which to correct them.
 */
export function readHarTimes(entry: unknown, headers: readonly Header[], creator: string): HarTimes | null {
  const sentMs = Date.parse(stringAt(entry, "startedDateTime"));
  const tookMs = getPath(entry, "time");
  if (Number.isNaN(sentMs) || typeof tookMs !== "number" || !(tookMs >= 0)) return null;
  const blocked = getPath(entry, "timings", "blocked");
  const showsWaiting = typeof blocked === "number" && blocked >= 0;
  const mayBeLate = !showsWaiting && !recordersOfSendingTime.has(creator);
  if (mayBeLate && dateHeaderMs(headers) === null) return null;
  const receive = getPath(entry, "timings", "receive");
  const receiveMs = typeof receive === "number" && receive > 0 ? Math.min(receive, tookMs) : 0;
  return { sentMs, headMs: sentMs + tookMs - receiveMs, endMs: sentMs + tookMs, mayBeLate };
}

/**
 * Names of the recorders whose entries contain the time at which a request was really sent, and not the time at which
 * it was queued.
 */
const recordersOfSendingTime: ReadonlySet<string> = new Set(["mitmproxy", "agent-hosting-conformance"]);

function dateHeaderMs(headers: readonly Header[]): number | null {
  const ms = Date.parse(headerValue(headers, "date") ?? "");
  return Number.isNaN(ms) ? null : ms;
}

interface TimedResponse {
  readonly answer: Answered;
  readonly times: HarTimes | null;
}

/** How much too early a `Date` header may be, because it shows whole seconds. */
const dateResolutionMs = 1000;

/**
 * Returns by how many milliseconds each response may have begun later than recorded, because its request had waited in
 * the browser. Compares the offset between `Date` and recorded time with the smallest such offset.
 */
export function responseDelaysMs(answers: readonly TimedResponse[]): number[] {
  const offsets = answers.map(({ answer, times }) => {
    const date = dateHeaderMs(answer.headers);
    return times === null || !times.mayBeLate || date === null ? null : date - times.headMs;
  });
  const minOffset = offsets.reduce<number>((earliest, offset) => Math.min(earliest, offset ?? Infinity), Infinity);
  return offsets.map((offset) => (offset === null || offset - minOffset <= dateResolutionMs ? 0 : offset - minOffset));
}

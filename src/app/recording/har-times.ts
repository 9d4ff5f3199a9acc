import { getPath } from "../../base/json.ts";
import type { Answered, Header } from "../../evidence/exchange.ts";
import { headerValue, textAt } from "./har-body.ts";

/** When a request was sent and answered, in Unix milliseconds. */
export interface HarTimes {
  readonly sentMs: number;
  readonly headMs: number;
  readonly endMs: number;
  /** Whether the recorder may have left out the time that the request waited in the browser for a connection. */
  readonly mayBeLate: boolean;
}

/**
 * Reads the times of an entry. Returns `null` if they are missing, or if they may leave out the time that the request
 * waited in the browser: `blocked` is absent, and no `Date` header can show that the response came later.
 */
export function readHarTimes(entry: unknown, headers: readonly Header[], creator: string): HarTimes | null {
  const sentMs = Date.parse(textAt(entry, "startedDateTime"));
  const tookMs = getPath(entry, "time");
  if (Number.isNaN(sentMs) || typeof tookMs !== "number" || !(tookMs >= 0)) return null;
  const blocked = getPath(entry, "timings", "blocked");
  const showsWaiting = typeof blocked === "number" && blocked >= 0;
  const mayBeLate = !showsWaiting && !programsWithoutQueue.has(creator);
  if (mayBeLate && dateMs(headers) === null) return null;
  const receive = getPath(entry, "timings", "receive");
  const receiveMs = typeof receive === "number" && receive > 0 ? Math.min(receive, tookMs) : 0;
  return { sentMs, headMs: sentMs + tookMs - receiveMs, endMs: sentMs + tookMs, mayBeLate };
}

/** Programs that write the time at which they really sent a request. */
const programsWithoutQueue: ReadonlySet<string> = new Set(["mitmproxy", "agent-hosting-conformance"]);

function dateMs(headers: readonly Header[]): number | null {
  const ms = Date.parse(headerValue(headers, "date") ?? "");
  return Number.isNaN(ms) ? null : ms;
}

interface TimedAnswer {
  readonly answer: Answered;
  readonly times: HarTimes | null;
}

/** A `Date` header may be this much too early, because it shows whole seconds. */
const dateResolutionMs = 1000;

/**
 * Returns how much later each response may have begun than its entry says. Playwright does not count the time that a
 * request waits for a connection of the browser. The `Date` header shows it, compared with the response whose `Date` is
 * the earliest for its time.
 */
export function headDelaysMs(answers: readonly TimedAnswer[]): number[] {
  const offsets = answers.map(({ answer, times }) => {
    const date = dateMs(answer.headers);
    return times === null || !times.mayBeLate || date === null ? null : date - times.headMs;
  });
  const minOffset = offsets.reduce<number>((earliest, offset) => Math.min(earliest, offset ?? Infinity), Infinity);
  return offsets.map((offset) => (offset === null || offset - minOffset <= dateResolutionMs ? 0 : offset - minOffset));
}

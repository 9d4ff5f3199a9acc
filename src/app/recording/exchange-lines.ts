import { tryParseJson } from "../../base/json.ts";
import { line } from "../../base/line.ts";
import { parseAs } from "../../base/parsing.ts";
import { UsageError } from "../../base/usage-error.ts";
import { type Exchange, exchangeSchema, headerValues } from "../../evidence/exchange.ts";
import { isLostWithTarget } from "../../run/send/retry.ts";
import { type LeftOutReason, type RecordedExchange, type Recording, countEach } from "./recording.ts";

/**
 * Reads a file in which each line is an exchange, in the JSON form of `evidence.json`.
 *
 * @throws {UsageError} if a line is not an exchange
 */
export function readExchangeLines(text: string, file: string): Recording {
  const exchanges = text.split("\n").flatMap((each, at): Exchange[] => {
    if (each.trim() === "") return [];
    const json = tryParseJson(each);
    const parsed = json === undefined ? null : parseAs(json, exchangeSchema);
    if (parsed?.kind === "value") return [parsed.value];
    const problem = parsed === null ? "is not JSON" : `is no exchange: ${parsed.problem}`;
    throw new UsageError(
      line`${file}, line ${at + 1} ${problem}. Give a HAR, evidence.json, or lines of its exchanges.`,
    );
  });
  return toRecording(exchanges, "JSON lines of exchanges");
}

/**
 * Converts exchanges from `evidence.json` into a recording to judge. Leaves out exchanges that show nothing about the
 * server.
 */
export function toRecording(exchanges: readonly Exchange[], format: string): Recording {
  const sorted = exchanges.toSorted((one, other) => one.sentMs - other.sentMs);
  const read = sorted.map(toRecordedExchange);
  const startMs = recordingStartMs(sorted);
  return {
    format,
    exchanges: read.flatMap((each) => (typeof each === "string" ? [] : [shiftExchange(each, startMs ?? 0)])),
    leftOut: countEach(read.filter((each) => typeof each === "string")),
    facts: { times: true, eventTimes: true, clock: startMs !== null },
  };
}

function toRecordedExchange(exchange: Exchange): RecordedExchange | LeftOutReason {
  const { answer, request } = exchange;
  if (request.method === "OPTIONS") return "options";
  if (isLostWithTarget(exchange)) return "gateway";
  if (answer.kind === "unanswered") return "unanswered";
  if (answer.status === 304) return "cache";
  const isCut = answer.body.kind === "cut" && answer.body.sha256 === "";
  return { exchange, gaps: isCut ? ["no body"] : [] };
}

/**
 * Returns when the recording started, in Unix milliseconds, computed from `Date` headers. Takes the latest result,
 * because a `Date` may lag. Returns `null` if no response has a `Date`.
 */
function recordingStartMs(exchanges: readonly Exchange[]): number | null {
  const starts = exchanges.flatMap((each) => {
    const date = Date.parse(headerValues(each, "Date")[0] ?? "");
    return Number.isNaN(date) || each.answer.kind !== "answered" ? [] : [date - each.answer.headMs - each.clockMs];
  });
  return starts.length === 0 ? null : starts.reduce((latest, start) => Math.max(latest, start), -Infinity);
}

function shiftExchange({ exchange, gaps }: RecordedExchange, startMs: number): RecordedExchange {
  const { answer, since: _since, ...rest } = exchange;
  const shiftedAnswer =
    answer.kind === "answered"
      ? {
          ...answer,
          headMs: answer.headMs + startMs,
          endMs: answer.endMs + startMs,
          events: answer.events.map((event) => ({ ...event, atMs: event.atMs + startMs })),
        }
      : { ...answer, endMs: answer.endMs + startMs };
  return { gaps, exchange: { ...rest, sentMs: exchange.sentMs + startMs, answer: shiftedAnswer } };
}

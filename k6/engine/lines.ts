import type { TierLimits, TierName } from "../../src/interface/tiers.ts";
import type { StreamShape } from "./sse.ts";

/** One request and its answer: a line of JSON on the console. Times are epoch ms of this machine; `null` where the answer does not tell. */
export interface SampleLine {
  readonly load: "sample";
  readonly flow: string;
  readonly key: string;
  /** When a paced flow wanted it sent. */
  readonly dueMs: number | null;
  /** Not before this moment did the request leave. */
  readonly sentMs: number;
  /** Not after this moment was the head of the answer here; where none came: when that was known. */
  readonly headMs: number;
  readonly endMs: number;
  /** k6's own measure, from the first byte sent to the first one received; fractions of a ms. */
  readonly latencyMs: number;
  readonly status: number | null;
  readonly limit: number | null;
  readonly remaining: number | null;
  readonly reset: number | null;
  readonly resetAfter: number | null;
  readonly retryAfterSeconds: number | null;
  /** The `Date` header, Unix seconds. */
  readonly date: number | null;
  /** The client closed the connection before the end. */
  readonly left: boolean;
  /** `usage.total_tokens` of the answer, or of a stream's `done`. */
  readonly tokens: number | null;
  /** Why there was no answer. */
  readonly error: string | null;
  readonly stream: StreamLine | null;
}

/** What a stream was made of. Plain k6 reads a stream as a whole: when each event came, it does not know. */
export interface StreamLine extends StreamShape {
  /** The body ended by itself; the client left; it broke off. */
  readonly ending: "whole" | "left" | "cut";
}

/** The last line of a process. With it, the lines of a process can be judged wherever they were brought. */
export interface EndLine {
  readonly load: "end";
  readonly scenario: string;
  readonly tier: TierName;
  readonly limits: TierLimits;
  readonly speed: number;
  /** As given by `--execution-segment`; `0:1` for a process that is alone. */
  readonly segment: string;
  readonly durationMs: number;
  readonly droppedIterations: number;
  readonly iterations: number;
  /** Iterations that ended with an exception of the script. */
  readonly errors: number;
}

export function write(line: SampleLine | EndLine): void {
  console.log(JSON.stringify(line));
}

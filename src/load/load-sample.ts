import { rounded } from "../base/numbers.ts";
import type { Header } from "../evidence/exchange.ts";
import { member } from "../base/json.ts";
import { nothingShown } from "../limits/sample.ts";
import { headerNames } from "../interface/headers.ts";
import type { LoadSample } from "./load-evidence.ts";

/** A request and its whole answer, as an engine has it. Times as in {@link LoadSample}. */
export interface SeenAnswer {
  readonly flow: string;
  readonly key: string;
  readonly sentMs: number;
  readonly headMs: number;
  readonly endMs: number;
  readonly status: number;
  readonly headers: readonly Header[];
  /** The body's text; `null` where it is not known, or no text. */
  readonly body: string | null;
  readonly left: boolean;
}

/** What the limiter showed in an answer. */
export function sampleOfAnswer(seen: SeenAnswer): LoadSample {
  const { flow, key, status, body, left } = seen;
  const values = valuesOf(seen.headers);
  const json = body === null ? undefined : parsed(body);
  return {
    flow,
    key,
    ...timesOf(seen),
    status,
    limit: wholeNumber(values.get(names.limit)),
    remaining: wholeNumber(values.get(names.remaining)),
    reset: wholeNumber(values.get(names.reset)),
    resetAfter: wholeNumber(values.get(names.resetAfter)),
    retryAfterSeconds: status === 429 ? retryAfterOf(json) : null,
    date: dateOf(values.get("date")),
    left,
    tokens: status === 200 ? tokensOf(json) : null,
  };
}

/** A request that nothing came back for, until `endMs`. */
export function unansweredSample(sent: Pick<SeenAnswer, "flow" | "key" | "sentMs" | "endMs" | "left">): LoadSample {
  return {
    flow: sent.flow,
    key: sent.key,
    ...timesOf({ ...sent, headMs: sent.endMs }),
    status: null,
    ...nothingShown,
    left: sent.left,
    tokens: null,
  };
}

/** `usage.total_tokens` of an answer or of a stream's `done`, or `tokens_used` of the generic envelope. */
export function tokensOf(json: unknown): number | null {
  const found = member(json, "usage", "total_tokens") ?? member(json, "data", "metadata", "tokens_used");
  return typeof found === "number" && Number.isInteger(found) && found >= 0 ? found : null;
}

/** The JSON value of a text; `undefined` where it is none. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

const names = {
  limit: headerNames.rateLimit.toLowerCase(),
  remaining: headerNames.rateRemaining.toLowerCase(),
  reset: headerNames.rateReset.toLowerCase(),
  resetAfter: headerNames.rateResetAfter.toLowerCase(),
} as const;

const wanted = new Set<string>([...Object.values(names), "date"]);

/** Values by lower-case name; one that is sent twice with different values is `ambiguous`. */
function valuesOf(headers: readonly Header[]): Map<string, string> {
  const values = new Map<string, string>();
  for (const [spelled, value] of headers) {
    const name = spelled.toLowerCase();
    if (!wanted.has(name)) continue;
    values.set(name, (values.get(name) ?? value) === value ? value : "ambiguous");
  }
  return values;
}

const wholeNumber = (value: string | undefined): number | null =>
  value !== undefined && /^-?\d{1,15}(\.0+)?$/.test(value.trim()) ? Number(value) : null;

/** Thousands of answers have the same date: it is read once. */
let lastDate: { readonly text: string; readonly seconds: number | null } = { text: "", seconds: null };

function dateOf(text: string | undefined): number | null {
  if (text === undefined) return null;
  if (text !== lastDate.text) {
    const ms = Date.parse(text);
    lastDate = { text, seconds: Number.isNaN(ms) ? null : Math.floor(ms / 1000) };
  }
  return lastDate.seconds;
}

function retryAfterOf(json: unknown): number | null {
  const found = member(json, "error", "retry_after") ?? member(json, "error", "details", "retry_after");
  return typeof found === "number" && Number.isFinite(found) ? found : null;
}

const timesOf = ({ sentMs, headMs, endMs }: Pick<SeenAnswer, "sentMs" | "headMs" | "endMs">) => ({
  sentMs: toMicroseconds(sentMs),
  headMs: toMicroseconds(headMs),
  endMs: toMicroseconds(endMs),
});

/** Finer than any engine's clock is exact, and short as text. */
const toMicroseconds = (ms: number): number => rounded(ms, 3);

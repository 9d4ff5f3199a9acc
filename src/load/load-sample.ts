import { jsonIn } from "../base/json.ts";
import { rounded } from "../base/numbers.ts";
import type { Header } from "../evidence/exchange.ts";
import { nothingShown, readShown } from "../limits/shown.ts";
import type { LoadSample } from "./load-evidence.ts";
import { tokensOf } from "../streams/shape.ts";

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
  const json = body === null ? undefined : jsonIn(body);
  return {
    flow,
    key,
    ...timesOf(seen),
    status,
    ...readShown(status, seen.headers, () => json),
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

const timesOf = ({ sentMs, headMs, endMs }: Pick<SeenAnswer, "sentMs" | "headMs" | "endMs">) => ({
  sentMs: toMicroseconds(sentMs),
  headMs: toMicroseconds(headMs),
  endMs: toMicroseconds(endMs),
});

/** Finer than any engine's clock is exact, and short as text. */
export const toMicroseconds = (ms: number): number => rounded(ms, 3);

import { randomUUID } from "node:crypto";

import { getPath } from "../../base/json.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { type Check, check } from "../../run/judge/check.ts";
import { breach, type Finding, holds, unproven } from "../../run/judge/finding.ts";
import { invoked } from "../invoke/probes.ts";
import { type CombinedResult, judgeAccepted, judgeCombined, sendCombined } from "../shared/combined-features.ts";
import { maxStreamSeconds } from "../shared/durations.ts";
import { fewRequests, probeIfManyRequests } from "../shared/few-requests.ts";
import { hasStatus, isSuccess, outcomeOf } from "../shared/response.ts";
import { isStreamAccepted, readEvents } from "./events.ts";
import { maxSlowMs, streamed } from "./probes.ts";

const since = "1.2";

/** Names that stand for something in a database, in JavaScript or in a path of fields. */
const unusualKeys = { $where: "1", "a.b": 1, ["__proto__"]: true, "": null, "ключ 🙂": "Grüße" };
const unusualContext = { $gt: "", "a.b": [1.5, null, {}], "": false, имя: "🙂 你好" };

/**
 * Line ends of other systems and of Unicode, and signs that templates and SQL use. The digits make a chunk that looks
 * like a number.
 */
const unusualQuery = "It's 100%s of {{name}} ${x}:\r\n4242424242\u2028\u0085end.";

/** Fields of a body whose names and values a server must accept, but few clients send. */
const features = () => ({
  keys: { parameters: unusualKeys },
  context: { parameters: { context: unusualContext } },
  marks: { query: unusualQuery },
  session: { session_id: `conf-${randomUUID()}` },
});
type UnusualFeature = keyof ReturnType<typeof features>;

const nulBody = () => ({ query: "Before\0after", session_id: `conf-${randomUUID()}` });

interface UnusualInvoke {
  readonly tried: CombinedResult<UnusualFeature | "temperature">;
  readonly nul: Exchange;
}

export const unusualInvoke = probeIfManyRequests(
  "an agent is invoked with unusual names and values in the body",
  { needs: ["agents.answering"], requests: 2, since },
  async ({ client, given }): Promise<UnusualInvoke> => {
    const send = (body: object): Promise<Exchange> => client.invoke(given["agents.answering"], body);
    const all = { ...features(), temperature: { parameters: { temperature: 0.35 } } };
    return { tried: await sendCombined(all, { query: "Hello." }, send, isSuccess), nul: await send(nulBody()) };
  },
);

/** Parameters that make a stream last, so that its `execution_time` shows its unit. */
const slowingParameters = { stream_delay_ms: 50, chunk_size: 3, resume_from_index: 2 };

type StreamFeature = UnusualFeature | "temperature" | "slowing";

interface UnusualStream {
  readonly tried: CombinedResult<StreamFeature>;
  readonly nul: Exchange;
  /** How far the run had advanced the target's clock after the first stream, including an advance under way. */
  readonly clockAfterMs: number;
}

export const unusualStream = probeIfManyRequests(
  "an agent streams with unusual names and values in the body",
  { needs: ["agents.streaming"], requests: 2, stage: "agent time", since },
  async ({ client, given, time }): Promise<UnusualStream> => {
    const clocksMs: number[] = [];
    const send = (body: object): Promise<Exchange> =>
      time.awaitAgent(
        client.stream(given["agents.streaming"], body).then((exchange) => {
          clocksMs.push(time.maxClockOffsetMs());
          return exchange;
        }),
        maxSlowMs,
      );
    const own = { temperature: { parameters: { temperature: 1.85 } }, slowing: { parameters: slowingParameters } };
    const tried = await sendCombined({ ...features(), ...own }, { query: "Hello." }, send, isStreamAccepted);
    return { tried, nul: await send(nulBody()), clockAfterMs: clocksMs[0] ?? Infinity };
  },
);

interface Evidence<F extends string> {
  readonly tried: CombinedResult<F>;
  readonly plain: Exchange;
}

type Judge<F extends string> = (evidence: Evidence<F>) => Finding<never>;

/** Judges a query with the character NUL. A server may reject it as invalid input, but must not fail. */
function judgeNul(nul: Exchange, plain: Exchange, accepts: (exchange: Exchange) => boolean): Finding<never> {
  if (accepts(nul) || hasStatus(nul, 400, 422)) return holds();
  if (!accepts(plain)) return unproven(`a plain request was not accepted either (${outcomeOf(plain)})`);
  if (nul.answer.kind !== "answered" || hasStatus(nul, 401, 429)) return unproven(`the request got ${outcomeOf(nul)}`);
  return breach("accepted, or refused as invalid input", outcomeOf(nul), nul, plain);
}

const judgeInvoke =
  <F extends string>(feature: F): Judge<F> =>
  ({ tried, plain }) =>
    judgeAccepted(tried, feature, plain, isSuccess);

const judgeStream =
  <F extends string>(feature: F): Judge<F> =>
  ({ tried, plain }) =>
    judgeAccepted(tried, feature, plain, isStreamAccepted);

const checkInvoke = (
  clause: "INV-1" | "INV-12" | "INV-13" | "INV-16",
  as: string,
  judge: Judge<UnusualFeature | "temperature">,
): Check =>
  check(
    clause,
    { unusual: unusualInvoke, control: invoked },
    ({ unusual, control }) =>
      unusual === null ? fewRequests : judge({ tried: unusual.tried, plain: control.exchange }),
    { as, since },
  );

const checkStream = (clause: "SSE-1" | "SSE-22" | "SSE-34", as: string, judge: Judge<StreamFeature>): Check =>
  check(
    clause,
    { unusual: unusualStream, control: streamed },
    ({ unusual, control }) =>
      unusual === null ? fewRequests : judge({ tried: unusual.tried, plain: control.exchange }),
    { as, since },
  );

export const unusualInvokeChecks: readonly Check[] = [
  checkInvoke("INV-1", "unusual names and values", ({ tried, plain }) => judgeCombined(tried, plain, isSuccess)),
  checkInvoke("INV-1", "unusual text", judgeInvoke("marks")),
  check(
    "INV-1",
    { unusual: unusualInvoke, control: invoked },
    ({ unusual, control }) => (unusual === null ? fewRequests : judgeNul(unusual.nul, control.exchange, isSuccess)),
    { as: "NUL in a session", since },
  ),
  checkInvoke("INV-12", "unusual keys", judgeInvoke("keys")),
  checkInvoke("INV-13", "two decimals", judgeInvoke("temperature")),
  checkInvoke("INV-16", "unusual keys", judgeInvoke("context")),
];

export const unusualStreamChecks: readonly Check[] = [
  checkStream("SSE-1", "unusual names and values", ({ tried, plain }) => judgeCombined(tried, plain, isStreamAccepted)),
  checkStream("SSE-1", "unusual text", judgeStream("marks")),
  check(
    "SSE-1",
    { unusual: unusualStream, control: streamed },
    ({ unusual, control }) =>
      unusual === null ? fewRequests : judgeNul(unusual.nul, control.exchange, isStreamAccepted),
    { as: "NUL in a session", since },
  ),
  checkStream("SSE-22", "unusual keys", judgeStream("keys")),
  checkStream("SSE-22", "larger values", judgeStream("slowing")),
  checkStream("SSE-34", "two decimals", judgeStream("temperature")),
  checkStream("SSE-34", "unusual keys", judgeStream("context")),
  check("SSE-14", unusualStream, (unusual) => (unusual === null ? fewRequests : judgeUnit(unusual)), {
    as: "with a delay",
    since,
  }),
];

/**
 * Judges that `execution_time` is in seconds. Compares it with the time until the end of this stream, and not until the
 * next request.
 */
function judgeUnit({ tried: { together }, clockAfterMs }: UnusualStream): Finding<never> {
  const seconds = getPath(readEvents(together, "done")[0]?.data, "execution_time");
  if (typeof seconds !== "number") return unproven(`no \`execution_time\` to judge (${outcomeOf(together)})`);
  const tookMs = together.answer.endMs - together.sentMs + clockAfterMs - together.clockMs;
  if (seconds <= maxStreamSeconds(tookMs)) return holds();
  const actual = `${seconds}, although the stream took ${(tookMs / 1000).toFixed(3)} s`;
  return breach("`execution_time` of `done`, in seconds", actual, together);
}

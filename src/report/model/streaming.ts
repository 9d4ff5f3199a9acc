import { z } from "zod";

import { type DeepReadonly, getPath, tryParseJson } from "../../base/json.ts";
import { formatNumber, rounded } from "../../base/numbers.ts";
import { quantile } from "../../base/statistics/samples.ts";
import { type Exchange, sentJson } from "../../evidence/exchange.ts";
import { endpointOfRequest } from "../../spec/endpoints.ts";

const msSchema = z.number().nonnegative();
const spreadSchema = z.object({ p50: msSchema, p99: msSchema, max: msSchema }).describe("Milliseconds.");

/** Schema of the streaming quality of one agent. These are measured values, which no clause judges. */
export const agentStreamingSchema = z.object({
  agent: z.string(),
  streams: z.int().positive().describe("Streams that ended with `done` and have content."),
  firstContentMs: spreadSchema.describe("Time from the request to the first chunk with content, in milliseconds."),
  gapMs: spreadSchema
    .nullable()
    .describe("Time between two chunks of a stream, in milliseconds; null if no stream has two."),
  perSecond: z
    .object({ unit: z.enum(["tokens", "characters"]), median: z.number().nonnegative() })
    .nullable()
    .describe("Completion tokens a second from the first chunk to the last; characters if a stream shows no tokens."),
  lumps: z.int().nonnegative().describe("Streams with at least five chunks that all came at once, at the end."),
});

export const streamingSchema = z
  .array(agentStreamingSchema)
  .describe("Streaming quality by agent, the agent with the most streams first. Figures, which no clause judges.");

export type AgentStreaming = DeepReadonly<z.infer<typeof agentStreamingSchema>>;

/** Minimum number of chunks of a lump, which is a stream whose chunks all arrive together at the end. */
const minLumpChunks = 5;
/** Minimum time from the request to the last chunk of a lump. A faster stream has its chunks close together anyway. */
const minLumpMs = 200;
/** Maximum time between the first and the last chunk of a lump, as a share of the time from the request to the last. */
const maxLumpShare = 0.05;
/** A stream's rate is computed only if its chunks span at least this time, because the timer is inexact. */
const minRateMs = 20;

/** Measures each agent's streaming quality by its streams with content and `done` that were not delayed or resumed. */
export function streamingOf(exchanges: readonly Exchange[]): AgentStreaming[] {
  const streams = exchanges.flatMap((exchange) => streamTimesOf(exchange) ?? []);
  return [...Map.groupBy(streams, ({ agent }) => agent)]
    .map(([agent, ofAgent]) => qualityOf(agent, ofAgent))
    .toSorted((one, other) => other.streams - one.streams);
}

type StreamTimes = NonNullable<ReturnType<typeof streamTimesOf>>;

function streamTimesOf(exchange: Exchange) {
  const { request, answer, sentMs } = exchange;
  if (answer.kind !== "answered" || answer.status !== 200) return null;
  const call = endpointOfRequest(request.method, request.url);
  const agent = call?.parameters["agent_id"];
  if (call?.endpoint !== "stream" || agent === undefined || isPaced(exchange)) return null;
  const done = answer.events.at(-1);
  if (done?.name !== "done") return null;
  const chunks = answer.events.flatMap(({ name, data, atMs }) => {
    const content = name === "chunk" ? getPath(tryParseJson(data), "content") : null;
    return typeof content === "string" && content !== "" ? [{ atMs, characters: Array.from(content).length }] : [];
  });
  const [first, last] = [chunks[0], chunks.at(-1)];
  if (first === undefined || last === undefined) return null;
  const durationMs = last.atMs - first.atMs;
  const tokens = getPath(tryParseJson(done.data), "usage", "completion_tokens");
  return {
    agent,
    firstContentMs: first.atMs - sentMs,
    gapsMs: chunks.slice(1).map(({ atMs }, at) => atMs - (chunks[at]?.atMs ?? atMs)),
    durationMs,
    characters: chunks.reduce((sum, { characters }) => sum + characters, 0),
    tokens: typeof tokens === "number" && tokens > 0 ? tokens : null,
    isLump:
      chunks.length >= minLumpChunks &&
      last.atMs - sentMs >= minLumpMs &&
      durationMs <= maxLumpShare * (last.atMs - sentMs),
  };
}

/**
 * Whether the request of an exchange asks the server to delay or resume the stream. The times of such a stream do not
 * show the agent's speed.
 */
const isPaced = ({ request }: Exchange): boolean =>
  ["stream_delay_ms", "resume_from_index"].some((name) => getPath(sentJson(request), "parameters", name) !== undefined);

function qualityOf(agent: string, streams: readonly StreamTimes[]): AgentStreaming {
  const gaps = streams.flatMap(({ gapsMs }) => gapsMs);
  const unit = streams.every(({ tokens }) => tokens !== null) ? "tokens" : "characters";
  const rates = streams
    .filter(({ durationMs }) => durationMs >= minRateMs)
    .map((stream) => (1000 * (stream[unit] ?? 0)) / stream.durationMs);
  return {
    agent,
    streams: streams.length,
    firstContentMs: spreadOf(streams.map(({ firstContentMs }) => firstContentMs)),
    gapMs: gaps.length === 0 ? null : spreadOf(gaps),
    perSecond: rates.length === 0 ? null : { unit, median: rounded(quantile(rates, 0.5), 1) },
    lumps: streams.filter(({ isLump }) => isLump).length,
  };
}

const spreadOf = (values: readonly number[]) => ({
  p50: rounded(Math.max(0, quantile(values, 0.5)), 1),
  p99: rounded(Math.max(0, quantile(values, 0.99)), 1),
  max: rounded(Math.max(0, ...values), 1),
});

/**
 * Formats an agent's median tokens or characters per second, e.g. `1,234 tokens`. Returns `null` if all its streams are
 * too short to measure.
 */
export const formatRate = ({ perSecond }: AgentStreaming): string | null =>
  perSecond === null ? null : `${formatNumber(Math.round(perSecond.median))} ${perSecond.unit}`;

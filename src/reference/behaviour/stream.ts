import type { TokenUsage } from "./invoke.ts";

/** The three parameters that only the stream has, and what it does without them. */
export interface StreamParameters {
  readonly resumeFromIndex: number;
  /** Milliseconds to wait between chunks, where the client asks for a wait. */
  readonly delayMs: number | null;
  /** Characters (code points) to a chunk, where the client asks for a size. */
  readonly chunkSize: number | null;
}

/** How a stream ends. */
export type StreamEnding =
  | { readonly kind: "done"; readonly usage: TokenUsage }
  | {
      readonly kind: "error";
      readonly cause: "crash" | "overload" | "timeout";
      readonly retryAfterSeconds: number | null;
    };

/** What a stream is made of, before it has an order. */
export interface StreamInput {
  readonly sessionId: string;
  readonly chunks: readonly Chunk[];
  readonly processingMs: number;
  readonly chunkIntervalMs: number;
  readonly ending: StreamEnding;
}

export interface Chunk {
  readonly text: string;
  /** Its place in the whole answer, from 0. */
  readonly index: number;
}

/** One step of a stream, taken in order. */
export type Step =
  | { readonly kind: "start" }
  | { readonly kind: "chunk"; readonly piece: Chunk }
  | { readonly kind: "done"; readonly usage: TokenUsage }
  | { readonly kind: "error"; readonly ending: Extract<StreamEnding, { kind: "error" }> }
  | { readonly kind: "wait"; readonly ms: number }
  /** Lets the event loop turn, so that the network may carry what was written. */
  | { readonly kind: "turns"; readonly count: number }
  /** Drops the connection. */
  | { readonly kind: "cut" };

export type EventStep = Extract<Step, { kind: "start" | "chunk" | "done" | "error" }>;

/** Bytes that go to the socket in one write. */
export type Write = string | Uint8Array;

/** Decisions about streams. Source: Endpoints 2; Events, "Stream events (SSE)". */
export interface StreamBehaviour {
  splitText(text: string, chunkSize: number | null): readonly string[];
  resumeChunks(pieces: readonly Chunk[], parameters: StreamParameters): readonly Chunk[];
  chunkIntervalMs(agentMs: number, parameters: StreamParameters): number;
  plan(facts: StreamInput): readonly Step[];
  eventName(kind: EventStep["kind"]): string;
  /** The JSON text of an event's data, on one line. */
  eventText(data: unknown): string;
  /** The id of a session that the client did not name. */
  sessionId(number: number): string;
  startData(facts: StreamInput): unknown;
  chunkData(piece: Chunk): unknown;
  doneData(usage: TokenUsage, elapsedMs: number): unknown;
  streamErrorData(ending: Extract<StreamEnding, { kind: "error" }>): unknown;
  /** What is written before the first event. */
  prelude(): readonly Write[];
  /** The bytes of one event; `number` counts the events of the stream from 0. */
  frame(name: string, data: string, number: number): readonly Write[];
  /** When a stream whose client has left is stopped. */
  noticesDisconnect(): "at once" | "at the next write" | "never";
}

export const standardStream: StreamBehaviour = {
  splitText: (text, chunkSize) => (chunkSize === null ? wordsOf(text) : slicesOf(text, chunkSize)),
  resumeChunks: (pieces, { resumeFromIndex }) => pieces.slice(resumeFromIndex),
  chunkIntervalMs: (agentMs, { delayMs }) => delayMs ?? agentMs,
  plan: ({ chunks, processingMs, chunkIntervalMs, ending }) => [
    { kind: "start" },
    ...waiting(processingMs),
    ...chunkSteps(chunks, chunkIntervalMs),
    ending.kind === "done" ? { kind: "done", usage: ending.usage } : { kind: "error", ending },
  ],
  eventName: (kind) => kind,
  eventText: (data) => JSON.stringify(data),
  sessionId: (number) => `ses_${String(number).padStart(8, "0")}`,
  startData: ({ sessionId }) => ({ message: "Stream started", session_id: sessionId }),
  chunkData: ({ text, index }) => ({ content: text, index: index }),
  doneData: ({ prompt, completion }, elapsedMs) => ({
    message: "Stream completed",
    usage: { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion },
    execution_time: elapsedMs / 1000,
  }),
  streamErrorData: ({ cause, retryAfterSeconds }) =>
    cause === "overload"
      ? { error: "The model is overloaded.", code: "CAPACITY_ERROR", retry_after: retryAfterSeconds }
      : { error: cause === "timeout" ? "The agent timed out." : "Processing failed.", code: "STREAM_ERROR" },
  prelude: () => [],
  frame: (name, data) => [`event: ${name}\ndata: ${data}\n\n`],
  noticesDisconnect: () => "at once",
};

function chunkSteps(pieces: readonly Chunk[], betweenMs: number): Step[] {
  const chunks = pieces.map((piece): Step => ({ kind: "chunk", piece }));
  return betweenMs > 0 ? chunks.flatMap((chunk, at) => (at === 0 ? chunk : [...waiting(betweenMs), chunk])) : chunks;
}

function waiting(ms: number): Step[] {
  return ms > 0 ? [{ kind: "wait", ms }] : [];
}

/** Words with the blanks that follow them, so that the pieces joined are the text. */
function wordsOf(text: string): readonly string[] {
  return text === "" ? [] : text.split(/(?<=\s)(?=\S)/u);
}

/** Slices of `size` code points: a surrogate pair is never split. */
function slicesOf(text: string, size: number): readonly string[] {
  // Nearly no text has any, and then each unit is a character.
  const points = /[\ud800-\udfff]/.test(text) ? Array.from(text) : null;
  const sliceFrom = (at: number): string => points?.slice(at, at + size).join("") ?? text.slice(at, at + size);
  const count = Math.ceil((points ?? text).length / size);
  return Array.from({ length: count }, (_, slice) => sliceFrom(slice * size));
}

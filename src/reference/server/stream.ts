import type { ServerResponse } from "node:http";
import type { Agent } from "../agents.ts";
import type { EventStep, Chunk, Step, StreamEnding, StreamInput, Write } from "../behaviour/stream.ts";
import type { HeadInput } from "../behaviour/transport.ts";
import type { RequestContext } from "./admission.ts";
import {
  emitExecutionStart,
  findEntrypoint,
  readExecutionRequest,
  executeAgent,
  type Execution,
  type IncomingExecution,
  type ExecutionRequest,
} from "./execution.ts";
import { responseHeaders, rawHeaders } from "./response.ts";
import type { ServerState } from "./state.ts";
import { sleep, eventLoopTurns, type DisconnectSignal } from "./wait.ts";

/** Endpoint 2: streams an agent's answer to the end, or until the client has left. Never rejects. */
export async function stream(
  state: ServerState,
  context: RequestContext,
  client: DisconnectSignal,
  response: ServerResponse,
  agent: Agent,
  { body, tag }: IncomingExecution,
): Promise<void> {
  const facts: HeadInput = { operation: "stream", status: state.behaviour.successStatus("stream", null) };
  const request = readExecutionRequest(body);
  const turn = executeAgent(state, context, agent, request, findEntrypoint(agent, tag, true));
  const happening = emitExecutionStart(state, context, agent, body);
  const planned = streamFacts(state, turn, request);
  const type = state.behaviour.contentType("events", facts);
  const own = [
    ["Content-Type", type],
    ["Cache-Control", "no-cache"],
  ] as const;
  response.writeHead(facts.status, rawHeaders(responseHeaders(state, context, facts, own)));
  context.onResponseEvent("head", facts);
  const chunks = chunkWriter(response);
  // What needs no wait is written at once: a turn of the queue after each event would cost more than the event.
  for (const wait of stepping({ state, context, client, response, chunks }, planned)) await wait;
  if (client.isDisconnected()) happening.disconnected();
  else happening.ended(turn);
  context.onResponseEvent(client.isDisconnected() ? "left" : "end", facts);
  chunks.end();
}

function streamFacts(state: ServerState, turn: Execution, request: ExecutionRequest): StreamInput {
  const { behaviour } = state;
  const { agent, text, processingMs } = turn;
  const all = behaviour.splitText(text, request.chunkSize).map((piece, index): Chunk => ({ text: piece, index }));
  const ending = endingOf(turn);
  const sent = agent.failure.kind === "none" ? all : all.slice(0, agent.failure.afterChunks);
  return {
    sessionId: request.session ?? behaviour.sessionId(state.nextRequestNumber()),
    chunks: turn.timesOut ? [] : behaviour.resumeChunks(sent, request),
    processingMs,
    chunkIntervalMs: behaviour.chunkIntervalMs(agent.chunkIntervalMs, request),
    ending,
  };
}

function endingOf({ agent: { failure }, timesOut, usage }: Execution): StreamEnding {
  if (timesOut) return { kind: "error", cause: "timeout", retryAfterSeconds: null };
  if (failure.kind === "none") return { kind: "done", usage };
  const retryAfterSeconds = failure.kind === "overload" ? failure.retryAfterSeconds : null;
  return { kind: "error", cause: failure.kind, retryAfterSeconds };
}

interface Line {
  readonly state: ServerState;
  readonly context: RequestContext;
  readonly client: DisconnectSignal;
  readonly response: ServerResponse;
  readonly chunks: ChunkWriter;
}

/** Takes the steps of a stream in order, and gives what has to be waited for before the next one. */
function* stepping(line: Line, facts: StreamInput): Generator<Promise<void>, void> {
  const { behaviour } = line.state;
  const notices = behaviour.noticesDisconnect();
  let events = 0;
  if (write(line, behaviour.prelude())) yield drained(line);
  for (const step of behaviour.plan(facts)) {
    if (line.client.isDisconnected() && (notices === "at once" || (notices === "at the next write" && isEvent(step))))
      return;
    if (isEvent(step)) {
      const isFull = writeEvent(line, facts, step, events);
      events += 1;
      if (isFull) yield drained(line);
    } else {
      yield rest(line, step, notices === "at once");
    }
  }
}

function isEvent(step: Step): step is EventStep {
  return step.kind === "start" || step.kind === "chunk" || step.kind === "done" || step.kind === "error";
}

async function rest(line: Line, step: Exclude<Step, EventStep>, untilLeft: boolean): Promise<void> {
  // A client must see that its stream has opened, however long the next event takes.
  line.chunks.open();
  if (step.kind === "wait") await sleep(line.state.clock, step.ms, untilLeft ? line.client : null);
  else if (step.kind === "turns") await eventLoopTurns(step.count);
  else await cut(line.response);
}

/** Tells whether the socket is full. */
/** Node writes what a turn of the queue has written when that is over: until then a connection that is destroyed takes it along. */
async function cut(response: ServerResponse): Promise<void> {
  await eventLoopTurns(1);
  response.destroy();
}

function writeEvent(line: Line, facts: StreamInput, step: EventStep, number: number): boolean {
  const { behaviour, clock } = line.state;
  if (step.kind === "chunk") {
    for (let more = behaviour.requestsPerChunk(); more > 0; more -= 1) line.context.account.count(clock.now());
  }
  const data = behaviour.eventText(dataOf(line, facts, step));
  return write(line, behaviour.frame(behaviour.eventName(step.kind), data, number));
}

function dataOf({ state: { behaviour, clock }, context }: Line, facts: StreamInput, step: EventStep): unknown {
  switch (step.kind) {
    case "start":
      return behaviour.startData(facts);
    case "chunk":
      return behaviour.chunkData(step.chunk);
    case "done":
      return behaviour.doneData(step.usage, clock.now() - context.arrivedMs);
    case "error":
      return behaviour.streamErrorData(step.ending);
  }
}

/** Tells whether the socket is full: a slow reader is to slow the agent down, and to fill no memory. */
function write({ client, response, chunks }: Line, writes: readonly Write[]): boolean {
  let isFull = false;
  for (const bytes of writes) {
    if (client.isDisconnected() || response.destroyed) return false;
    isFull = chunks.write(bytes);
  }
  return isFull;
}

function drained({ client, response }: Line): Promise<void> {
  return new Promise((resolve) => {
    const settle = () => {
      forget();
      response.off("drain", settle);
      resolve();
    };
    let forget = () => {};
    response.once("drain", settle);
    forget = client.onDisconnect(settle);
  });
}

/** Writes the body of a response whose head is made, each write a chunk of its own. */
export interface ChunkWriter {
  /** Sends the head where nothing was written yet. */
  open(): void;
  /** Tells whether the socket is full. */
  write(bytes: Write): boolean;
  end(): void;
}

/**
 * Node makes four writes of a chunk: its length, a line end, its bytes and another line end. They cost more than the event in it, so that what
 * frames a chunk is put around it here. Source: RFC 9112, 7.1.
 */
export function chunkWriter(response: ServerResponse): ChunkWriter {
  // To a client of HTTP/1.0 a body ends with its connection, and nothing frames it.
  const { chunkedEncoding: isChunked } = response;
  response.chunkedEncoding = false;
  let isOpen = false;
  return {
    open: () => {
      if (!isOpen) response.flushHeaders();
      isOpen = true;
    },
    write: (bytes) => {
      isOpen = true;
      // A chunk of no bytes would be the end.
      return bytes.length > 0 && !response.write(isChunked ? framed(bytes) : bytes);
    },
    end: () => {
      if (isChunked && !response.destroyed) response.write("0\r\n\r\n");
      response.end();
    },
  };
}

function framed(bytes: Write): Write {
  const length = `${Buffer.byteLength(bytes).toString(16)}\r\n`;
  return typeof bytes === "string"
    ? `${length}${bytes}\r\n`
    : Buffer.concat([Buffer.from(length), bytes, Buffer.from("\r\n")]);
}

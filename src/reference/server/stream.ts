import type { ServerResponse } from "node:http";
import type { Agent } from "../agents.ts";
import type { EventStep, Chunk, StreamStep, StreamEnding, StreamInput, StreamBytes } from "../behaviour/execution.ts";
import type { ResponseHead } from "../behaviour/transport.ts";
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
import { responseHeaders, rawHeaders } from "./http.ts";
import { sleep, waitEventLoopTurns } from "./wait.ts";

export async function handleStream(
  context: RequestContext,
  response: ServerResponse,
  agent: Agent,
  { body, tag }: IncomingExecution,
): Promise<void> {
  const { behaviour } = context.state;
  const head: ResponseHead = { endpoint: "stream", status: behaviour.successStatus("stream", null) };
  const request = readExecutionRequest(body);
  const execution = executeAgent(context, agent, request, findEntrypoint(agent, tag, true));
  const events = emitExecutionStart(context, agent, body);
  const steps = streamInput(context, execution, request);
  const own = [
    ["Content-Type", behaviour.contentType("events", head)],
    ["Cache-Control", "no-cache"],
  ] as const;
  response.writeHead(head.status, rawHeaders(responseHeaders(context, head, own)));
  context.onResponseEvent("head", head);
  const chunks = chunkWriter(response);
  // `runSteps` yields only when the stream must wait, because awaiting every event would be slow.
  for (const wait of runSteps({ context, response, chunks }, steps)) await wait;
  const hasLeft = context.client.isDisconnected();
  if (hasLeft) events.disconnected();
  else events.ended(execution);
  context.onResponseEvent(hasLeft ? "left" : "end", head);
  chunks.end();
}

function streamInput({ state }: RequestContext, execution: Execution, request: ExecutionRequest): StreamInput {
  const { behaviour } = state;
  const { agent, text, processingMs } = execution;
  const all = behaviour.splitText(text, request.chunkSize).map((part, index): Chunk => ({ text: part, index }));
  const ending = endingOf(execution);
  const sent = agent.failure.kind === "none" ? all : all.slice(0, agent.failure.afterChunks);
  return {
    sessionId: request.session ?? behaviour.sessionId(state.nextRequestNumber()),
    chunks: execution.timesOut ? [] : behaviour.resumeChunks(sent, request),
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

interface StreamConnection {
  readonly context: RequestContext;
  readonly response: ServerResponse;
  readonly chunks: ReturnType<typeof chunkWriter>;
}

/** Runs the steps of a stream. Whenever the stream has to wait, yields a promise for the caller to await. */
function* runSteps(connection: StreamConnection, input: StreamInput): Generator<Promise<void>, void> {
  const { behaviour } = connection.context.state;
  const notices = behaviour.noticesDisconnect();
  let eventCount = 0;
  if (writeToClient(connection, behaviour.bytesBeforeEvents())) yield untilDrained(connection);
  for (const step of behaviour.planSteps(input)) {
    if (
      connection.context.client.isDisconnected() &&
      (notices === "at once" || (notices === "at the next write" && isEvent(step)))
    )
      return;
    if (isEvent(step)) {
      const isFull = writeEvent(connection, input, step, eventCount);
      eventCount += 1;
      if (isFull) yield untilDrained(connection);
    } else {
      yield runPause(connection, step, notices === "at once");
    }
  }
}

function isEvent(step: StreamStep): step is EventStep {
  return step.kind === "start" || step.kind === "chunk" || step.kind === "done" || step.kind === "error";
}

async function runPause(
  connection: StreamConnection,
  step: Exclude<StreamStep, EventStep>,
  untilLeft: boolean,
): Promise<void> {
  // Sends status and headers before any wait, so that the client gets them at once.
  connection.chunks.open();
  if (step.kind === "wait")
    await sleep(connection.context.state.clock, step.ms, untilLeft ? connection.context.client : null);
  else if (step.kind === "turns") await waitEventLoopTurns(step.count);
  else await dropConnection(connection.response);
}

/** Drops the connection in the next event-loop turn, so that Node first sends the written data. */
async function dropConnection(response: ServerResponse): Promise<void> {
  await waitEventLoopTurns(1);
  response.destroy();
}

function writeEvent(connection: StreamConnection, input: StreamInput, step: EventStep, number: number): boolean {
  const { behaviour, clock } = connection.context.state;
  if (step.kind === "chunk") {
    for (let more = behaviour.requestsPerChunk(); more > 0; more -= 1) connection.context.account.count(clock.now());
  }
  const data = behaviour.eventText(dataOf(connection, input, step));
  return writeToClient(connection, behaviour.encodeEvent(behaviour.eventName(step.kind), data, number));
}

function dataOf({ context }: StreamConnection, input: StreamInput, step: EventStep): unknown {
  const { behaviour, clock } = context.state;
  switch (step.kind) {
    case "start":
      return behaviour.startData(input);
    case "chunk":
      return behaviour.chunkData(step.chunk);
    case "done":
      return behaviour.doneData(step.usage, clock.now() - context.arrivedMs, input);
    case "error":
      return behaviour.streamErrorData(step.ending);
  }
}

/** Writes data to the client. Returns `true` if the socket's buffer is full: the caller must then wait. */
function writeToClient({ context, response, chunks }: StreamConnection, writes: readonly StreamBytes[]): boolean {
  let isFull = false;
  for (const bytes of writes) {
    if (context.client.isDisconnected() || response.destroyed) return false;
    isFull = chunks.write(bytes);
  }
  return isFull;
}

function untilDrained({ context, response }: StreamConnection): Promise<void> {
  return new Promise((resolve) => {
    const settle = () => {
      forget();
      response.off("drain", settle);
      resolve();
    };
    let forget = () => {};
    response.once("drain", settle);
    forget = context.client.onDisconnect(settle);
  });
}

/** Returns a writer of HTTP chunks that replaces Node's own, which is slower. Source: RFC 9112, section 7.1. */
function chunkWriter(response: ServerResponse) {
  // `false` for HTTP/1.0, which has no chunked encoding. There, the end of the connection ends the body.
  const { chunkedEncoding: isChunked } = response;
  response.chunkedEncoding = false;
  let isOpen = false;
  return {
    open: () => {
      if (!isOpen) response.flushHeaders();
      isOpen = true;
    },
    write: (bytes: StreamBytes): boolean => {
      isOpen = true;
      // Writes no empty chunk, because an empty chunk would end the body.
      return bytes.length > 0 && !response.write(isChunked ? frameChunk(bytes) : bytes);
    },
    end: () => {
      if (isChunked && !response.destroyed) response.write("0\r\n\r\n");
      response.end();
    },
  };
}

function frameChunk(bytes: StreamBytes): StreamBytes {
  const length = `${Buffer.byteLength(bytes).toString(16)}\r\n`;
  return typeof bytes === "string"
    ? `${length}${bytes}\r\n`
    : Buffer.concat([Buffer.from(length), bytes, Buffer.from("\r\n")]);
}

import type { ServerResponse } from "node:http";
import type { Agent } from "../agents.ts";
import type { EventStep, Piece, Step, StreamEnding, StreamFacts, Write } from "../behaviour/streaming.ts";
import type { HeadFacts } from "../behaviour/transport.ts";
import { headOf } from "./answer.ts";
import type { Exchange } from "./exchange.ts";
import { beginTurn } from "./happenings.ts";
import { pause, turns, type Departure } from "./pause.ts";
import type { ServerState } from "./state.ts";
import { entrypointOf, readTurnRequest, takeTurn, type Turn, type TurnArrival, type TurnRequest } from "./turn.ts";

/** Endpoint 2: streams an agent's answer to the end, or until the client has left. Never rejects. */
export async function stream(
  state: ServerState,
  exchange: Exchange,
  client: Departure,
  response: ServerResponse,
  agent: Agent,
  { body, tag }: TurnArrival,
): Promise<void> {
  const facts: HeadFacts = { operation: "stream", status: state.behaviour.successStatus("stream", null) };
  const request = readTurnRequest(body);
  const turn = takeTurn(state, exchange, agent, request, entrypointOf(agent, tag, true));
  const happening = beginTurn(state, exchange, agent, body);
  const planned = streamFacts(state, turn, request);
  const type = state.behaviour.contentType("events", facts);
  const own = [
    ["Content-Type", type],
    ["Cache-Control", "no-cache"],
  ] as const;
  response.writeHead(facts.status, headOf(state, exchange, facts, own).flat());
  // A client must see that its stream has opened, however long the first event takes.
  response.flushHeaders();
  exchange.slotMoment("head", facts);
  await writeSteps({ state, exchange, client, response }, planned);
  if (client.gone()) happening.left();
  else happening.ended(turn);
  exchange.slotMoment(client.gone() ? "left" : "end", facts);
  response.end();
}

function streamFacts(state: ServerState, turn: Turn, request: TurnRequest): StreamFacts {
  const { behaviour } = state;
  const { agent, text, thinksMs } = turn;
  const all = behaviour.pieces(text, request.chunkSize).map((piece, place): Piece => ({ text: piece, place }));
  const ending = endingOf(turn);
  const sent = agent.failure.kind === "none" ? all : all.slice(0, agent.failure.afterPieces);
  return {
    sessionId: request.session ?? behaviour.sessionId(state.nextRequestNumber()),
    pieces: turn.timesOut ? [] : behaviour.resumed(sent, request),
    thinksMs,
    betweenMs: behaviour.betweenMs(agent.betweenPiecesMs, request),
    ending,
  };
}

function endingOf({ agent: { failure }, timesOut, usage }: Turn): StreamEnding {
  if (timesOut) return { kind: "error", cause: "timeout", retryAfterSeconds: null };
  if (failure.kind === "none") return { kind: "done", usage };
  const retryAfterSeconds = failure.kind === "overload" ? failure.retryAfterSeconds : null;
  return { kind: "error", cause: failure.kind, retryAfterSeconds };
}

interface Line {
  readonly state: ServerState;
  readonly exchange: Exchange;
  readonly client: Departure;
  readonly response: ServerResponse;
}

async function writeSteps(line: Line, facts: StreamFacts): Promise<void> {
  const { behaviour } = line.state;
  const notices = behaviour.noticesDisconnect();
  let events = 0;
  if (write(line, behaviour.prelude())) await drained(line);
  for (const step of behaviour.plan(facts)) {
    if (line.client.gone() && (notices === "at once" || (notices === "at the next write" && isEvent(step)))) return;
    if (isEvent(step)) {
      const isFull = writeEvent(line, facts, step, events);
      events += 1;
      // A wait for nothing after each event would cost more than the event.
      if (isFull) await drained(line);
    } else {
      await rest(line, step, notices === "at once");
    }
  }
}

function isEvent(step: Step): step is EventStep {
  return step.kind === "start" || step.kind === "chunk" || step.kind === "done" || step.kind === "error";
}

async function rest(line: Line, step: Exclude<Step, EventStep>, untilLeft: boolean): Promise<void> {
  if (step.kind === "wait") await pause(line.state.clock, step.ms, untilLeft ? line.client : null);
  else if (step.kind === "turns") await turns(step.count);
  else line.response.destroy();
}

/** Tells whether the socket is full. */
function writeEvent(line: Line, facts: StreamFacts, step: EventStep, number: number): boolean {
  const { behaviour, clock } = line.state;
  if (step.kind === "chunk") {
    for (let more = behaviour.requestsPerChunk(); more > 0; more -= 1) line.exchange.account.count(clock.now());
  }
  const elapsedMs = clock.now() - line.exchange.arrivedMs;
  const data = behaviour.eventText(dataOf(line.state, facts, step, elapsedMs));
  return write(line, behaviour.frame(behaviour.eventName(step.kind), data, number));
}

function dataOf({ behaviour }: ServerState, facts: StreamFacts, step: EventStep, elapsedMs: number): unknown {
  switch (step.kind) {
    case "start":
      return behaviour.startData(facts);
    case "chunk":
      return behaviour.chunkData(step.piece);
    case "done":
      return behaviour.doneData(step.usage, elapsedMs);
    case "error":
      return behaviour.streamErrorData(step.ending);
  }
}

/** Tells whether the socket is full: a slow reader is to slow the agent down, and to fill no memory. */
function write({ client, response }: Line, writes: readonly Write[]): boolean {
  let isFull = false;
  for (const bytes of writes) {
    if (client.gone() || response.destroyed) return false;
    isFull = !response.write(bytes);
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
    forget = client.listen(settle);
  });
}

import type { FastifyReply, FastifyRequest } from "fastify";
import type { Operation } from "../trouble.ts";
import { messageOf, send, type Answer } from "./answer.ts";
import type { Exchange } from "./exchange.ts";
import { pause, turns, type Departure } from "./pause.ts";
import type { ServerState } from "./state.ts";

/** What a request carries through the server. */
export interface InHand {
  readonly exchange: Exchange;
  readonly client: Departure;
}

declare module "fastify" {
  interface FastifyRequest {
    inHand: InHand | null;
    /** The body as received; `null` where there is none. */
    rawBody: Buffer | null;
  }
  interface FastifyContextConfig {
    operation?: Operation;
  }
}

/** Sends an answer past the framework, so that every byte of it is the behaviour's. */
export function answer(state: ServerState, request: FastifyRequest, reply: FastifyReply, given: Answer): void {
  const { inHand } = request;
  reply.hijack();
  if (inHand === null) return void reply.raw.destroy();
  const { exchange } = inHand;
  const acceptEncoding = request.headers["accept-encoding"] ?? "";
  const finish = () => send(reply.raw, exchange, messageOf(state, exchange, given, acceptEncoding));
  const { operation } = exchange;
  const isLimited = given.kind === "trouble" && given.trouble.detail.kind === "limit";
  const waits = state.behaviour.turnsBeforeAnswer({ operation });
  const waitsMs = state.behaviour.beforeAnswerMs({ operation, isLimited });
  if (waits === 0 && waitsMs === 0) finish();
  else void Promise.all([turns(waits), pause(state.clock, waitsMs, null)]).then(finish);
}

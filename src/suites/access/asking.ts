import type { Exchange } from "../../evidence/exchange.ts";
import type { EndpointName } from "../../interface/endpoints.ts";
import type { Client } from "../../run/client.ts";
import type { Scene } from "../../run/probe.ts";
import { hasStatus } from "../answers/shape.ts";
import type { KeyKind } from "../../interface/key-kinds.ts";
import { type Call, callOf, type Ground } from "./requests.ts";

/** One field of the matrix: a kind of key on an endpoint, and what came of it. */
export interface Cell {
  readonly kind: KeyKind;
  readonly endpoint: EndpointName;
  readonly exchange: Exchange;
}

/** What a probe tried of the matrix. */
export interface Tried {
  readonly cells: readonly Cell[];
}

/** After so many 429s the address is left in peace. */
const mostLimited = 2;

/** Sends requests of one probe; `null` for one that is not to be sent. */
export interface Asking {
  readonly ask: (kind: KeyKind, endpoint: EndpointName, authorization?: string | null) => Promise<Cell | null>;
  /** The same for a request that is no cell of the matrix. */
  readonly send: (call: Call, authorization?: string | null) => Promise<Exchange | null>;
}

/**
 * The one place that sends requests of the matrix: with the client's key, or with another `Authorization`. A 429 is waited for only
 * where that takes no real time; a run that only reads sends only what reads.
 */
export function startAsking(client: Client, ground: Ground, { target, isReadOnly }: Scene): Asking {
  let limited = 0;
  const send: Asking["send"] = async ({ method, path, options }, authorization) => {
    if (limited >= mostLimited || (isReadOnly && method !== "GET")) return null;
    const exchange = await client.send(method, path, {
      ...options,
      unpaced: target.clock === null,
      ...(authorization === undefined ? {} : { authorization }),
    });
    if (hasStatus(exchange, 429)) limited += 1;
    return exchange;
  };
  const ask: Asking["ask"] = async (kind, endpoint, authorization) => {
    const call = callOf[endpoint](ground);
    const exchange = call === null ? null : await send(call, authorization);
    return exchange === null ? null : { kind, endpoint, exchange };
  };
  return { send, ask };
}

/** Asks one endpoint after the other, so that the requests hold no slots. */
export async function askEach(
  { ask }: Asking,
  kind: KeyKind,
  endpoints: readonly EndpointName[],
  authorization?: string | null,
): Promise<Cell[]> {
  const cells: Cell[] = [];
  for (const endpoint of endpoints) {
    const cell = await ask(kind, endpoint, authorization);
    if (cell !== null) cells.push(cell);
  }
  return cells;
}

import type { Exchange } from "../../../evidence/exchange.ts";
import type { EndpointName } from "../../../spec/endpoints.ts";
import type { Client } from "../../../run/send/client.ts";
import type { ProbeContext } from "../../../run/probe.ts";
import { hasStatus } from "../response.ts";
import type { RejectedKeyKind } from "../../../spec/rejected-key-kinds.ts";
import { type EndpointRequest, requestFor, type Fixtures } from "./fixtures.ts";

/** One field of the matrix: a kind of key on an endpoint, and what came of it. */
export interface KeyTrial {
  readonly kind: RejectedKeyKind;
  readonly endpoint: EndpointName;
  readonly exchange: Exchange;
}

/** What a probe tried of the matrix. */
export interface KeyTrials {
  readonly cells: readonly KeyTrial[];
}

/** After so many 429s the address is left in peace. */
const mostLimited = 2;

/** Sends requests of one probe; `null` for one that is not to be sent. */
export interface TrialSender {
  readonly sendTrial: (
    kind: RejectedKeyKind,
    endpoint: EndpointName,
    authorization?: string | null,
  ) => Promise<KeyTrial | null>;
  /** The same for a request that is no cell of the matrix. */
  readonly send: (call: EndpointRequest, authorization?: string | null) => Promise<Exchange | null>;
}

/**
 * The one place that sends requests of the matrix: with the client's key, or with another `Authorization`. A 429 is waited for only
 * where that takes no real time; a run that only reads sends only what reads.
 */
export function createTrialSender(client: Client, ground: Fixtures, { target, readOnly }: ProbeContext): TrialSender {
  let limited = 0;
  const send: TrialSender["send"] = async ({ method, path, options }, authorization) => {
    if (limited >= mostLimited || (readOnly && method !== "GET")) return null;
    const exchange = await client.send(method, path, {
      ...options,
      unpaced: target.clock === null,
      ...(authorization === undefined ? {} : { authorization }),
    });
    if (hasStatus(exchange, 429)) limited += 1;
    return exchange;
  };
  const sendTrial: TrialSender["sendTrial"] = async (kind, endpoint, authorization) => {
    const call = requestFor[endpoint](ground);
    const exchange = call === null ? null : await send(call, authorization);
    return exchange === null ? null : { kind, endpoint, exchange };
  };
  return { send, sendTrial };
}

/** Asks one endpoint after the other, so that the requests hold no slots. */
export async function sendTrials(
  { sendTrial }: TrialSender,
  kind: RejectedKeyKind,
  endpoints: readonly EndpointName[],
  authorization?: string | null,
): Promise<KeyTrial[]> {
  const cells: KeyTrial[] = [];
  for (const endpoint of endpoints) {
    const cell = await sendTrial(kind, endpoint, authorization);
    if (cell !== null) cells.push(cell);
  }
  return cells;
}

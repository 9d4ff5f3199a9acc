import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { isObject } from "../../../base/json.ts";
import { isVerified, type ReceivedEvent, type ReceiverBehaviour, standardReceiver } from "../faults.ts";
import { listenOnLoopback, plainNetwork } from "../../../base/network/network.ts";
import { webhookEvents } from "../../../spec/events-and-errors.ts";
import type { Suite } from "../../../run/judge/check.ts";
import { runDeliveries } from "../../../run/run-party.ts";
import type { RunResult } from "../../../run/run-result.ts";
import { receiverSuite } from "../../../suites/receiver/checks.ts";
import { receiverTarget } from "../../../target/target-from-options.ts";

/** A webhook receiver on loopback. */
export interface ServedReceiver {
  readonly url: string;
  readonly close: () => void;
}

/** Serves a receiver with some decisions replaced. It accepts the signatures of all secrets. */
export async function serveReceiver(
  patch: Partial<ReceiverBehaviour>,
  secrets: readonly string[],
): Promise<ServedReceiver> {
  const behaviour = { ...standardReceiver, ...patch };
  const earlier: ReceivedEvent[] = [];
  const respond = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const raw = await buffer(incoming);
    const given = incoming.headers["x-service-signature"];
    const status = await statusFor(raw, typeof given === "string" ? given : null);
    response.writeHead(status, status === 302 ? { Location: "/elsewhere" } : {}).end();
  };
  const server = createServer((incoming, response) => void respond(incoming, response));
  const statusFor = async (raw: Buffer, given: string | null): Promise<number> => {
    if (raw.length > behaviour.maxBytes) return 413;
    if (given === null && behaviour.unsignedStatus !== null) return behaviour.unsignedStatus;
    if (given !== null && !isVerified(behaviour, secrets, raw, given)) return behaviour.mismatchStatus;
    const event = eventIn(raw);
    const status = behaviour.statusOf(event, [...earlier]);
    earlier.push(event);
    await sleep(behaviour.delayMs(event));
    return status;
  };
  const port = await listenOnLoopback(server);
  server.unref();
  return { url: `http://127.0.0.1:${port}/hooks`, close: () => server.closeAllConnections() };
}

function eventIn(raw: Buffer): ReceivedEvent {
  const json: unknown = JSON.parse(raw.toString("utf8"));
  const fields = isObject(json) ? json : {};
  const text = (name: string): string => {
    const value: unknown = Reflect.get(fields, name);
    return typeof value === "string" ? value : "";
  };
  return { id: text("id"), type: text("type"), created: text("created"), names: Object.keys(fields) };
}

/** The suite without RCV-14, whose slow body takes two seconds. */
export const quickSuites: readonly Suite[] = [
  { ...receiverSuite, checks: receiverSuite.checks.filter(({ clause }) => clause !== "RCV-14") },
];

/** Judges the receiver at a URL. */
export const judgeReceiverAt = (
  url: string,
  secrets: readonly [string, ...string[]],
  suites: readonly Suite[] = quickSuites,
): Promise<RunResult> =>
  runDeliveries({
    target: receiverTarget({ url, secrets, headerValues: [], network: plainNetwork }),
    suites,
    secrets,
    events: webhookEvents,
    agent: "weather",
    headers: [],
    signal: new AbortController().signal,
  });

/** Returns the clauses that have a finding of one of these kinds. */
export const clausesWith = ({ judgements }: RunResult, ...kinds: readonly string[]): string[] =>
  judgements.filter(({ finding }) => kinds.includes(finding.kind)).map(({ check }) => check.clause);

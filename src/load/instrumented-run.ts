import { setTimeout as sleep } from "node:timers/promises";

import { is2xx } from "../base/http-status.ts";
import type { Scenario } from "./scenarios.ts";
import { type Delivery, deliveryJson, hasValidSignature } from "../evidence/delivery.ts";
import { bodyJson, type Exchange, statusOf } from "../evidence/exchange.ts";
import { getPath } from "../base/json.ts";
import type { Hook, Receiver } from "../receiver/receiver.ts";
import { openTransport, type Transport } from "../wire/transport.ts";
import { type Engine, EngineProblem, type EngineOptions } from "./engine.ts";
import { factsOf } from "./judge/facts.ts";
import { isUsageReportBehind } from "./judge/usage-report.ts";
import type { DeliverySummary, LoadEvidence } from "./load-evidence.ts";
import { epochMs } from "./wall-clock.ts";

/** What is looked at around a run, besides the requests of the engine. */
export interface Instrumentation {
  /** Gets webhooks; `null` where there is none. */
  readonly receiver: Receiver | null;
  /** Memory of the embedded server in bytes; `null` for a server of somebody else's. */
  readonly rssBytes: (() => Promise<number>) | null;
  /** Longest real time to wait for deliveries that are still missing, in milliseconds. */
  readonly deliveryTimeoutMs: number;
}

/** The ledger is read for these claims only: reading it uses up two requests of the main key. */
const ledgerClaims = ["USE-7", "USE-8"];
/**
 * The document does not say that the report is there at once: where it lacks something, it is read again after these times, but not on the
 * embedded server, whose report is never late. Few of them, as each reading may count as a request.
 */
const lagsMs = [1000, 4000] as const;
const rssEveryMs = 500;
/** What comes twice comes a little later. */
const duplicatesMs = 300;
const hookSecret = "load-webhook-secret";

/**
 * Runs a scenario with what it needs around it: the usage report before and after, a webhook and its deliveries, the server's memory.
 *
 * @throws {EngineProblem} where the engine cannot run, or the target does not take the webhook
 */
export async function runInstrumented(
  engine: Engine,
  scenario: Scenario,
  parts: EngineOptions,
  { receiver, rssBytes, deliveryTimeoutMs }: Instrumentation,
): Promise<LoadEvidence> {
  const wire = openTransport({ now: epochMs, clockOffsetMs: () => 0, network: parts.network });
  const hasLedger = scenario.claims.some((claim) => ledgerClaims.includes(claim));
  const memory = watchMemory(rssBytes);
  try {
    const hook = scenario.needs.includes("receiver") ? await subscribed(scenario, parts, receiver, wire) : null;
    const before = hasLedger ? await usage(parts, wire) : null;
    const evidence = await engine(scenario, parts);
    const ledger = hasLedger
      ? await ledgerAfter(evidence, before, rssBytes === null ? lagsMs : [], { scenario, parts, wire })
      : null;
    const deliveries = hook === null ? null : await delivered(hook, evidence, deliveryTimeoutMs);
    return {
      ...evidence,
      notes: [...evidence.notes, ...notesOn(ledger, hook !== null)],
      ledger,
      deliveries,
      server: rssBytes === null ? null : { rssBytes: [...memory.samples] },
    };
  } finally {
    memory.end();
    await wire.close();
  }
}

type Ledger = NonNullable<LoadEvidence["ledger"]>;

/** The report as it is after the load; where it lacks something, as it is a few seconds later. */
async function ledgerAfter(
  evidence: LoadEvidence,
  before: unknown,
  waitsMs: readonly number[],
  { scenario, parts, wire }: { readonly scenario: Scenario; readonly parts: EngineOptions; readonly wire: Transport },
): Promise<Ledger> {
  let ledger: Ledger = { before, after: await usage(parts, wire), readsAfter: 1 };
  for (const [index, lagMs] of waitsMs.entries()) {
    if (!isUsageReportBehind(factsOf({ ...evidence, ledger }, scenario))) break;
    await sleep(lagMs, undefined, { signal: parts.signal }).catch(() => {});
    if (parts.signal.aborted) break;
    ledger = { before, after: (await usage(parts, wire)) ?? ledger.after, readsAfter: index + 2 };
  }
  return ledger;
}

function notesOn(ledger: Ledger | null, hasHook: boolean): string[] {
  return [
    ...(ledger !== null
      ? [
          `GET /usage was sent once before and ${timesText(ledger.readsAfter ?? 1)} after the load with the main key, and is not among the requests.`,
        ]
      : []),
    ...(hasHook
      ? ["POST /webhooks was sent once before the load with the main key, and is not among the requests."]
      : []),
  ];
}

const timesText = (count: number): string => (count === 1 ? "once" : `${count} times`);

function call(parts: EngineOptions, wire: Transport, method: string, path: string, json: unknown): Promise<Exchange> {
  return wire.open({
    method,
    url: parts.baseUrl + path,
    headers: [
      ["authorization", `Bearer ${parts.keys.main ?? ""}`],
      ["accept", "application/json"],
      ...(json === null ? [] : [["content-type", "application/json"] as const]),
    ],
    body: json === null ? null : JSON.stringify(json),
    key: "main",
  }).finished;
}

/** The body of the usage report; `null` where it was not answered with 200. */
async function usage(parts: EngineOptions, wire: Transport): Promise<unknown> {
  const exchange = await call(parts, wire, "GET", "/usage", null);
  return statusOf(exchange) === 200 ? (bodyJson(exchange) ?? null) : null;
}

async function subscribed(
  scenario: Scenario,
  parts: EngineOptions,
  receiver: Receiver | null,
  wire: Transport,
): Promise<Hook> {
  if (receiver === null)
    throw new EngineProblem(
      `${scenario.name} needs a receiver that the target can reach: name one in the target file's "webhooks".`,
    );
  const name = `load-${scenario.name}-${Math.floor(epochMs())}`;
  const hook = receiver.open(name, { secret: hookSecret, replies: [] });
  const exchange = await call(parts, wire, "POST", "/webhooks", {
    url: hook.url,
    events: ["agent.completed"],
    agent_id: parts.agents.answering,
    secret: hookSecret,
  });
  const status = statusOf(exchange);
  if (status !== 200 && status !== 201)
    throw new EngineProblem(
      `The target did not take the webhook of ${scenario.name}: POST /webhooks answered ${status ?? "nothing"}.`,
    );
  return hook;
}

/** `null` where so many came that some were turned away: of those nobody knows what they told. */
async function delivered(hook: Hook, evidence: LoadEvidence, withinMs: number): Promise<DeliverySummary | null> {
  const summary = await summaryOfAll(hook, evidence, withinMs);
  return hook.droppedCount() > 0 ? null : summary;
}

async function summaryOfAll(hook: Hook, evidence: LoadEvidence, withinMs: number): Promise<DeliverySummary> {
  const expected = admittedInvokes(evidence);
  const endMs = epochMs() + withinMs;
  let summary = summaryOf(hook.deliveries());
  // Some come twice: those that are missing are waited for in spite of that.
  while (summary.distinctRequests < expected) {
    const wanted = hook.deliveries().length + hook.droppedCount() + expected - summary.distinctRequests;
    const waited = await hook.waitForDeliveries(wanted, Math.max(0, endMs - epochMs()));
    summary = summaryOf(hook.deliveries());
    if (!waited) return summary;
  }
  await hook.waitForDeliveries(hook.deliveries().length + hook.droppedCount() + 1, duplicatesMs);
  return summaryOf(hook.deliveries());
}

function admittedInvokes({ flows, requests, summary }: LoadEvidence): number {
  const invokes = new Set(flows.filter(({ operation }) => operation.kind === "invoke").map(({ name }) => name));
  const single = requests.filter(({ flow, status }) => invokes.has(flow) && is2xx(status)).length;
  return summary.reduce((sum, { flow, admitted }) => sum + (invokes.has(flow) ? admitted : 0), single);
}

/** What of the deliveries matters to a count: their kind, their signatures, and which request each one is about. */
export function summaryOf(deliveries: readonly Delivery[]): DeliverySummary {
  const completed = deliveries.filter((delivery) => getPath(deliveryJson(delivery), "type") === "agent.completed");
  const ids = completed.map((delivery) => getPath(deliveryJson(delivery), "data", "request_id"));
  const distinctRequests = new Set(ids.filter((id) => typeof id === "string")).size;
  return {
    received: completed.length,
    badSignatures: completed.filter((delivery) => !hasValidSignature(delivery)).length,
    distinctRequests,
    duplicates: completed.length - distinctRequests,
  };
}

function watchMemory(rssBytes: Instrumentation["rssBytes"]): {
  readonly samples: readonly number[];
  readonly end: () => void;
} {
  const samples: number[] = [];
  if (rssBytes === null) return { samples, end: () => {} };
  // A server that has ended is told by the requests.
  const look = (): void =>
    void rssBytes().then(
      (bytes) => samples.push(bytes),
      () => {},
    );
  const timer = setInterval(look, rssEveryMs);
  look();
  return { samples, end: () => clearInterval(timer) };
}

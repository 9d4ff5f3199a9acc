import { setTimeout as sleep } from "node:timers/promises";
import { is2xx, isKeyRefusal } from "../base/http.ts";
import type { KeyRole, Scenario } from "./scenarios.ts";
import { type Delivery, deliveryJson, hasValidSignature } from "../evidence/delivery.ts";
import { bodyJson, type Exchange, statusOf } from "../evidence/exchange.ts";
import { getPath } from "../base/json.ts";
import type { Hook, Receiver } from "../receiver/receiver.ts";
import { openTransport, type Transport } from "../wire/transport.ts";
import { type Engine, type EngineOptions, EngineProblem } from "./engine.ts";
import { factsOf } from "./judge/facts.ts";
import { isUsageReportBehind } from "./judge/usage-report.ts";
import { type KeyRefusal, keyRefusalIn } from "./judge/target-loss.ts";
import { agentPath } from "../run/send/client.ts";
import type { DeliverySummary, LoadEvidence } from "../evidence/load-evidence.ts";
import { epochMs } from "./load-sample.ts";
import { TargetDied } from "./target-watch.ts";
import { isGatewayError } from "../run/send/retry.ts";

const hookSecret = "load-webhook-secret";
/** Time, in ms, to keep trying to register a webhook while the target is unreachable, e.g. during a deployment. */
const maxOutageMs = 8000;
const webhookPauseMs = 1000;

/** Registers a webhook. Each retry uses a new URL: a webhook that an earlier attempt left would send duplicates. */
export async function registerWebhook(
  scenario: Scenario,
  options: EngineOptions,
  receiver: Receiver | null,
  wire: Transport,
): Promise<Hook> {
  if (receiver === null)
    throw new EngineProblem(
      `${scenario.name} needs a receiver that the target can reach: name one in the target file's "webhooks".`,
    );
  for (const untilMs = epochMs() + maxOutageMs; ;) {
    const { hook, exchange } = await tryToRegister(scenario, options, receiver, wire);
    const { answer } = exchange;
    const status = statusOf(exchange);
    if (status === 200 || status === 201) return hook;
    const problem = `POST /webhooks answered ${status ?? "nothing"}`;
    if (answer.kind === "answered" && !isGatewayError(answer))
      throw new EngineProblem(`The target did not accept the webhook of ${scenario.name}: ${problem}.`);
    if (epochMs() >= untilMs)
      throw new TargetDied(`the target is away: for ${maxOutageMs / 1000} s, ${problem} or a gateway's error`);
    await sleep(webhookPauseMs, undefined, { signal: options.signal });
  }
}

async function tryToRegister(
  scenario: Scenario,
  options: EngineOptions,
  receiver: Receiver,
  wire: Transport,
): Promise<{ readonly hook: Hook; readonly exchange: Exchange }> {
  const name = `load-${scenario.name}-${Math.floor(epochMs())}`;
  const hook = receiver.open(name, { secret: hookSecret, replies: [] });
  const exchange = await sendJson(options, wire, "POST", "/webhooks", {
    url: hook.url,
    events: ["agent.completed"],
    agent_id: options.agents.answering,
    secret: hookSecret,
  });
  return { hook, exchange };
}

/** Sends a request outside the load, e.g. `GET /usage`, with the key `options.keys.main`. */
function sendJson(
  options: EngineOptions,
  wire: Transport,
  method: string,
  path: string,
  json: unknown,
): Promise<Exchange> {
  return wire.open({
    method,
    url: options.baseUrl + path,
    headers: [
      ["authorization", `Bearer ${options.keys.main ?? ""}`],
      ["accept", "application/json"],
      ...(json === null ? [] : [["content-type", "application/json"] as const]),
    ],
    body: json === null ? null : JSON.stringify(json),
    key: "main",
  }).finished;
}

export interface Instrumentation {
  readonly receiver: Receiver | null;
  /** Measures the memory of the embedded server, in bytes; `null` for any other server. */
  readonly rssBytes: (() => Promise<number>) | null;
  /** Maximum time to wait for missing webhook deliveries after the load, in real milliseconds. */
  readonly deliveryTimeoutMs: number;
}

/** Clauses about usage. If a scenario tests one, the harness reads the usage report before and after the load. */
const usageClaims = ["USE-7", "USE-8"];
/** Pauses, in ms, before rereads of a usage report that lags behind. Only two: rereads may count against limits. */
const usageRetryDelaysMs = [1000, 4000] as const;
const rssEveryMs = 500;
/** Time, in ms, to wait for duplicate deliveries after all expected deliveries have arrived. */
const duplicateWaitMs = 300;

export async function runInstrumented(
  engine: Engine,
  scenario: Scenario,
  options: EngineOptions,
  { receiver, rssBytes, deliveryTimeoutMs }: Instrumentation,
): Promise<LoadEvidence> {
  let sent = 0;
  const transport = openTransport({
    now: epochMs,
    clockOffsetMs: () => 0,
    network: options.network,
    senderHeaders: () => [["User-Agent", options.userAgent]],
    onResend: () => void (sent += 1),
  });
  const wire: Transport = {
    ...transport,
    open: (outgoing) => {
      sent += 1;
      return transport.open(outgoing);
    },
  };
  const readsUsage = scenario.claims.some((claim) => usageClaims.includes(claim));
  const memory = watchMemory(rssBytes);
  const refused = (): number => receiver?.refusedConnections() ?? 0;
  const refusedBefore = refused();
  try {
    const hook = scenario.needs.includes("receiver") ? await registerWebhook(scenario, options, receiver, wire) : null;
    const before = readsUsage ? await readUsage(options, wire) : null;
    const sentBefore = sent;
    const evidence = await engine(scenario, options);
    const keyRefused = await confirmedKeyRefusal(evidence, options, wire);
    const ledger =
      readsUsage && !(options.signal.reason instanceof TargetDied)
        ? await usageAfter(evidence, before, rssBytes === null ? usageRetryDelaysMs : [], { scenario, options, wire })
        : null;
    const deliveries =
      hook === null || keyRefused !== null
        ? null
        : await waitForDeliveries(hook, evidence, deliveryTimeoutMs, options.signal);
    return {
      ...evidence,
      sentBefore,
      notes: [...evidence.notes, ...notesOn(ledger, hook !== null)],
      ledger,
      deliveries: refused() > refusedBefore ? null : deliveries,
      server: rssBytes === null ? null : { rssBytes: [...memory.samples] },
      ...(keyRefused !== null && { keyRefused }),
    };
  } finally {
    memory.end();
    await transport.close();
  }
}

/** Finds a key that the server stopped accepting. A health request, which has no rate limit, must confirm it. */
async function confirmedKeyRefusal(
  evidence: LoadEvidence,
  options: EngineOptions,
  wire: Transport,
): Promise<KeyRefusal | null> {
  const refusal = keyRefusalIn(evidence);
  const key = refusal === null ? null : (options.keys[refusal.key as KeyRole] ?? null);
  if (key === null || options.signal.reason instanceof TargetDied) return null;
  const path = agentPath(options.agents.answering ?? "", "health");
  const exchange = await sendJson({ ...options, keys: { ...options.keys, main: key } }, wire, "GET", path, null);
  const status = statusOf(exchange);
  // A 429 also confirms the refusal: after many requests with a refused key, a server may answer 429 even to health.
  return isKeyRefusal(status) || status === 429 ? refusal : null;
}

type Ledger = NonNullable<LoadEvidence["ledger"]>;

/** Reads the usage report after the load. While it lags behind the load, reads it again after each of `waitsMs`. */
async function usageAfter(
  evidence: LoadEvidence,
  before: unknown,
  waitsMs: readonly number[],
  {
    scenario,
    options,
    wire,
  }: { readonly scenario: Scenario; readonly options: EngineOptions; readonly wire: Transport },
): Promise<Ledger> {
  let ledger: Ledger = { before, after: await readUsage(options, wire), readsAfter: 1 };
  for (const [index, waitMs] of waitsMs.entries()) {
    if (!isUsageReportBehind(factsOf({ ...evidence, ledger }, scenario))) break;
    await sleep(waitMs, undefined, { signal: options.signal }).catch(() => {});
    if (options.signal.aborted) break;
    ledger = { before, after: (await readUsage(options, wire)) ?? ledger.after, readsAfter: index + 2 };
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

async function readUsage(options: EngineOptions, wire: Transport): Promise<unknown> {
  const exchange = await sendJson(options, wire, "GET", "/usage", null);
  return statusOf(exchange) === 200 ? (bodyJson(exchange) ?? null) : null;
}

async function waitForDeliveries(
  hook: Hook,
  evidence: LoadEvidence,
  withinMs: number,
  signal: AbortSignal,
): Promise<DeliverySummary | null> {
  const summary = await Promise.race([summaryWhenComplete(hook, evidence, withinMs), whenAborted(signal)]);
  return hook.droppedCount() > 0 ? null : summary;
}

function whenAborted(signal: AbortSignal): Promise<null> {
  const { promise, resolve } = Promise.withResolvers<null>();
  if (signal.aborted) resolve(null);
  signal.addEventListener("abort", () => resolve(null), { once: true });
  return promise;
}

async function summaryWhenComplete(hook: Hook, evidence: LoadEvidence, withinMs: number): Promise<DeliverySummary> {
  const expected = admittedInvokes(evidence);
  const endMs = epochMs() + withinMs;
  let summary = countDeliveries(hook.deliveries());
  // Does not count duplicate deliveries: they could hide a missing delivery.
  while (summary.distinctRequests < expected && hook.droppedCount() === 0) {
    const wanted = hook.deliveries().length + hook.droppedCount() + expected - summary.distinctRequests;
    const waited = await hook.waitForDeliveries(wanted, Math.max(0, endMs - epochMs()));
    summary = countDeliveries(hook.deliveries());
    if (!waited) return summary;
  }
  await hook.waitForDeliveries(hook.deliveries().length + hook.droppedCount() + 1, duplicateWaitMs);
  return countDeliveries(hook.deliveries());
}

function admittedInvokes({ flows, requests, summary }: LoadEvidence): number {
  const invokes = new Set(flows.filter(({ operation }) => operation.kind === "invoke").map(({ name }) => name));
  const single = requests.filter(({ flow, status }) => invokes.has(flow) && is2xx(status)).length;
  return summary.reduce((sum, { flow, admitted }) => sum + (invokes.has(flow) ? admitted : 0), single);
}

function countDeliveries(deliveries: readonly Delivery[]): DeliverySummary {
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

function watchMemory(rssBytes: Instrumentation["rssBytes"]) {
  const samples: number[] = [];
  if (rssBytes === null) return { samples, end: (): void => {} };
  // Ignores an error: it means that the server has ended, which the load's failed requests already show.
  const measure = (): void =>
    void rssBytes().then(
      (bytes) => samples.push(bytes),
      () => {},
    );
  const timer = setInterval(measure, rssEveryMs);
  measure();
  return { samples, end: (): void => clearInterval(timer) };
}

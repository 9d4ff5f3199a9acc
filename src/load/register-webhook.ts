import { setTimeout as sleep } from "node:timers/promises";
import { type Exchange, statusOf } from "../evidence/exchange.ts";
import type { Hook, Receiver } from "../receiver/receiver.ts";
import { isGatewayError } from "../run/send/retry.ts";
import type { Transport } from "../wire/transport.ts";
import { type EngineOptions, EngineProblem } from "./engine.ts";
import { epochMs } from "./load-sample.ts";
import type { Scenario } from "./scenarios.ts";
import { TargetDied } from "./target-watch.ts";

const hookSecret = "load-webhook-secret";
/** How long to retry while the target is unreachable, as during a deployment. */
const awayForMs = 8000;
const webhookPauseMs = 1000;

/** Registers a webhook. Each retry uses a new address, because an earlier attempt may have succeeded unnoticed. */
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
  for (const untilMs = epochMs() + awayForMs; ;) {
    const { hook, exchange } = await tryToRegister(scenario, options, receiver, wire);
    const { answer } = exchange;
    const status = statusOf(exchange);
    if (status === 200 || status === 201) return hook;
    const problem = `POST /webhooks answered ${status ?? "nothing"}`;
    if (answer.kind === "answered" && !isGatewayError(answer))
      throw new EngineProblem(`The target did not accept the webhook of ${scenario.name}: ${problem}.`);
    if (epochMs() >= untilMs)
      throw new TargetDied(`the target is away: for ${awayForMs / 1000} s, ${problem} or a gateway's error`);
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

/** Sends a request of the harness itself, outside the load, with the main key. */
export function sendJson(
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

import { createServer } from "node:http";

import { describe, expect, it, onTestFinished } from "vitest";

import { listenOnLoopback, plainNetwork } from "../base/network/network.ts";
import { startLocal } from "../receiver/testing/senders.ts";
import { openTransport } from "../wire/transport.ts";
import { EngineProblem, type EngineOptions } from "./engine.ts";
import { epochMs } from "./load-sample.ts";
import { registerWebhook } from "./instrumented-run.ts";
import { scenarioNamed } from "./scenarios.ts";

/**
 * Registers a webhook at a server that gives these responses in turn. Returns the webhook's address, and all addresses
 * that were sent.
 */
async function registerAt(responses: readonly (readonly [status: number, body: string])[]) {
  const sent: unknown[] = [];
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (piece: Buffer) => (text += piece.toString()));
    request.on("end", () => {
      sent.push((JSON.parse(text) as { url: unknown }).url);
      const [status, body] = responses[sent.length - 1] ?? [500, ""];
      response.writeHead(status).end(body);
    });
  });
  const port = await listenOnLoopback(server);
  const receiver = await startLocal();
  const wire = openTransport({ now: epochMs, clockOffsetMs: () => 0, network: plainNetwork });
  onTestFinished(async () => {
    await wire.close();
    await receiver.close();
    server.close();
  });
  const scenario = scenarioNamed("webhook-storm");
  if (scenario === undefined) throw new Error("no scenario webhook-storm");
  const baseUrl = `http://127.0.0.1:${port}/v1`;
  const options = {
    baseUrl,
    keys: { main: "key", second: null },
    agents: { answering: "echo" },
    signal: new AbortController().signal,
  } as EngineOptions;
  const { url } = await registerWebhook(scenario, options, receiver, wire);
  return { url, sent };
}

describe("the webhook of a load", () => {
  it("is asked for again, with another address, after a gateway's response", async () => {
    const { url, sent } = await registerAt([
      [502, "<html>Bad Gateway</html>"],
      [201, "{}"],
    ]);
    expect(new Set(sent).size).toBe(2);
    expect(sent.at(-1)).toBe(url);
  });

  it("is asked for once if the target itself refuses it", async () => {
    const refused = registerAt([[503, '{"error":{"code":"X","message":"no","status":503}}']]);
    await expect(refused).rejects.toThrow(EngineProblem);
  });
});

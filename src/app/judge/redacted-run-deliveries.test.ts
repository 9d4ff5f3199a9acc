import type { IncomingMessage, ServerResponse } from "node:http";

import { request } from "undici";
import { describe, expect, it } from "vitest";

import { deliveryHeaderValues } from "../../evidence/delivery.ts";
import { serializeEvidence, readEvidence, serializeReport } from "../../report/model/report-file.ts";
import { renderTerminal } from "../../report/terminal/render-terminal.ts";
import { check, suite } from "../../run/judge/check.ts";
import { breach, holds } from "../../run/judge/finding.ts";
import { probe } from "../../run/probe.ts";
import { aKey, aTarget } from "../../run/testing/values.ts";
import { startAnsweringServer } from "../../wire/testing/hostile.ts";
import { webhookSecretNames, withoutWebhookSecrets } from "./secrets.ts";
import { type Judged, judgedRun } from "../../cli/testing/judged-session.ts";

const key = "pk_Zw7+Qm/4t=Lx9&Rv2Bn8";
const secret = "conformance-5f0c2a71-9d34";

const delivered = probe(
  "a delivery comes",
  { needs: ["receiver"], requests: 2, creates: { webhooks: 1 } },
  async ({ given, client }) => {
    const hook = given.receiver.open("signed", { secret, replies: [{ kind: "status", status: 204 }] });
    const creation = await client.send("POST", "/webhooks", { json: { url: hook.url, events: ["agent.*"], secret } });
    const invoked = await client.invoke("echo", { query: "hello" });
    await hook.waitForDeliveries(1, 5000);
    return { creation, invoked, deliveries: hook.deliveries() };
  },
);

const signed = suite("Webhook deliveries", [
  check("HOOK-21", delivered, ({ deliveries: [first], invoked }) => {
    if (first === undefined) return holds();
    const [came] = deliveryHeaderValues(first, "X-Service-Signature");
    return breach(`the signature by ${secret}`, `${came}`, first, invoked);
  }),
]);

/** Runs the suites against a server whose deliveries have a wrong signature, and the caller's API key in the body. */
async function conductDelivering(): Promise<Judged> {
  let address = "";
  const answer = async ({ url, method }: IncomingMessage, response: ServerResponse, body: string): Promise<void> => {
    response.setHeader("content-type", "application/json");
    if (url?.endsWith("/webhooks") === true) {
      address = (JSON.parse(body) as { url: string }).url;
      response.writeHead(201).end('{"webhook_id":"wh_1"}');
    } else if (method === "POST") {
      await request(address, {
        method: "POST",
        headers: { "x-service-signature": "00ff", "x-key": key },
        body: JSON.stringify({ id: "evt_1", data: { authorization: `Bearer ${key}` } }),
      });
      response.end('{"result":{}}');
    } else response.end('{"data":[{"id":"echo"}],"pagination":{}}');
  };
  const server = await startAnsweringServer((...asked) => void answer(...asked));
  try {
    return await judgedRun({
      target: aTarget(server.baseUrl, {
        keys: { main: aKey({ name: "main", key, tier: "pro" }) },
        agents: { answering: "echo" },
        webhooks: { listen: "127.0.0.1:0", publicUrl: null, isReachabilityPromised: true, sources: null },
      }),
      suites: [signed],
    });
  } finally {
    server.close();
  }
}

describe("a run that received a delivery", () => {
  const style = { colour: false, width: 100, quiet: false, folder: "out" };
  const shellVariableOf = (name: string): string =>
    name === webhookSecretNames.name ? webhookSecretNames.variable : "MAIN_KEY";

  it("keeps it once, says what it created, and lets no key out that it held", async () => {
    const { report, evidence } = await conductDelivering();
    const kept = serializeEvidence(evidence);
    expect(report.findings.map(({ outcome, evidence: shown }) => [outcome, shown?.length])).toEqual([["fail", 2]]);
    expect(report.created).toMatchObject([{ kind: "webhook", id: "wh_1", key: "main" }]);
    expect(kept.split('"hook":"signed"')).toHaveLength(2);
    expect(kept).toContain('"deliveries":[{"$delivery":');
    expect(readEvidence(kept, "evidence.json").deliveries).toEqual(evidence.deliveries);
    const shown = renderTerminal(report, evidence, { ...style, shellVariableOf });
    expect([serializeReport(report), kept, shown].join("\n")).not.toContain(key.slice(0, 12));
  });

  it("shows it without the secret of its webhook, which only the evidence keeps", async () => {
    const { report, evidence } = await conductDelivering();
    const shown = withoutWebhookSecrets({ ...evidence, report });
    const terminal = renderTerminal(shown.report, shown, { ...style, shellVariableOf });
    expect(terminal).not.toContain(secret.slice(0, 20));
    expect(terminal).toContain("expected  the signature by [redacted webhook secret]");
    expect(terminal).toMatch(/< POST \/\S+\/signed\n/);
    expect(terminal).toContain('openssl dgst -sha256 -hmac "$WEBHOOK_SECRET"');
    expect(terminal).toContain("Left on the target  1 webhook");
    expect(serializeEvidence(evidence)).toContain(secret);
  });
});

import { execFileSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, describe, expect, it } from "vitest";

import type { Delivery } from "../../evidence/delivery.ts";
import type { Body, Exchange } from "../../evidence/exchange.ts";
import { deliveryCommands, evidenceContextOf, findingEvidence } from "./finding-evidence.ts";
import { serializeEvidence } from "../model/report-file.ts";
import {
  conformanceFunction,
  sampleDelivery,
  sampleExchange,
  sampleFinding,
  sampleReport,
  textBody,
} from "../testing/sample.ts";

const folder = mkdtempSync(join(tmpdir(), "again-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const secret = "whsec-it's-$HOME-é";
const base = "http://127.0.0.1:8080/v1";
const creation = sampleExchange("x1", {
  url: `${base}/webhooks`,
  body: textBody(JSON.stringify({ url: "https://tunnel.example/hook/f3a9c2/signed", events: ["agent.*"], secret })),
});
const invoke = sampleExchange("x2");
const other = sampleExchange("x3", {
  url: `${base}/webhooks`,
  body: textBody('{"url":"https://tunnel.example/hook/f3a9c2/other"}'),
});
const all = [other, creation, invoke];

const context = (exchanges: readonly Exchange[] = all) =>
  evidenceContextOf(
    { report: sampleReport([]), evidence: { exchanges, deliveries: [] } },
    { shellVariableOf: () => undefined },
  );

const received = (body: Body): Delivery => {
  const { request } = sampleDelivery("d1");
  return sampleDelivery("d1", { request: { ...request, body } });
};

describe("the command that sends an exchange again", () => {
  const expired = (id: string, sentMs: number, key: string): Exchange => ({
    ...sampleExchange(id, {}, { status: 401, body: textBody('{"error":{"code":"EXPIRED_API_KEY"}}') }),
    key,
    sentMs,
  });
  const used: Exchange = { ...sampleExchange("x2"), key: "temporary", sentMs: 10 };

  it.each<[string, Exchange, readonly Exchange[], boolean]>([
    ["warns if the key has expired since", used, [expired("x9", 20, "temporary"), expired("x8", 5, "temporary")], true],
    ["does not if it expired only before", used, [expired("x9", 5, "temporary")], false],
    ["does not if another key has expired", used, [expired("x9", 20, "main")], false],
    ["does not for the refusal itself", expired("x2", 10, "temporary"), [expired("x9", 20, "temporary")], false],
  ])("%s", (_, exchange, others, warns) => {
    const finding = sampleFinding({ outcome: "fail", evidence: ["x2"] });
    const found = findingEvidence(finding, context([exchange, ...others]), {});
    expect(found?.commands.some((line) => line.includes("has expired"))).toBe(warns);
  });
});

describe("commands that reproduce a delivery", () => {
  it("create its webhook and repeat the requests of the finding", () => {
    const lines = deliveryCommands(sampleDelivery("d1"), [creation, invoke], context());
    expect(lines[0]).toMatch(/^WEBHOOK_SECRET=\$\(npx agent-hosting-conformance evidence \. x1 --secret\)$/);
    expect(lines[1]).toBe("# with the address of a receiver of your own in the body:");
    expect(lines[2]).toContain("curl -i http://127.0.0.1:8080/v1/webhooks");
    expect(lines[2]).toContain("f3a9c2/signed");
    expect(lines[3]).toContain("/agents/echo/invoke");
  });

  it("compute a signature only if the received one is wrong", () => {
    const { request } = sampleDelivery("d1");
    const fitting = { ...request, headers: [["x-service-signature", "a1b2"]] as const };
    expect(deliveryCommands(sampleDelivery("d1", { request: fitting }), [], context([])).join()).toBe("");
    expect(deliveryCommands(sampleDelivery("d1", { computedSignature: null }), [], context([])).join()).toBe("");
    expect(
      deliveryCommands(sampleDelivery("d1", { request: { ...request, headers: [] } }), [], context([])),
    ).toHaveLength(2);
  });

  it.each<{ name: string; bytes: Buffer; body?: Body }>([
    { name: "ASCII", bytes: Buffer.from('{"a":1}') },
    { name: "quotes, feeds and non-ASCII", bytes: Buffer.from(`{"a":"it's \\"$HOME\\" Zürich 日本 🙂"}\n`) },
    { name: "nothing", bytes: Buffer.alloc(0), body: { kind: "none" } },
    { name: "a long text", bytes: Buffer.from(`{"a":"${"é'".repeat(20_000)}"}`) },
    {
      name: "bytes that are no text",
      bytes: Buffer.from([0xff, 0, 10]),
      body: { kind: "base64", base64: "/wAK", bytes: 3 },
    },
  ])("compute the signature with openssl over the recorded bytes: $name", ({ bytes, body }) => {
    const delivery = received(body ?? textBody(bytes.toString()));
    writeFileSync(
      join(folder, "evidence.json"),
      serializeEvidence({ exchanges: all, deliveries: [delivery], probes: [] }),
    );
    const script = deliveryCommands(delivery, [], context())
      .filter((line) => !line.startsWith("curl"))
      .join("\n");
    const printed = execFileSync("bash", ["--norc", "-c", `${conformanceFunction}\n${script}`], {
      cwd: folder,
    }).toString();
    expect(printed).toContain(createHmac("sha256", secret).update(bytes).digest("hex"));
  });

  it("leave the secret to the reader if the creation of the webhook is not recorded", () => {
    expect(deliveryCommands(sampleDelivery("d1"), [], context([other]))).toEqual([
      "# X-Service-Signature has to be what this prints:",
      `printf %s '{"id":"evt_1","type":"agent.completed"}' | openssl dgst -sha256 -hmac "$WEBHOOK_SECRET"`,
    ]);
  });

  it("are a comment if the body was not kept whole", () => {
    const cut: Body = { kind: "cut", head: "a", tail: "b", bytes: 300_000, sha256: "00" };
    expect(deliveryCommands(received(cut), [], context([])).join()).toMatch(/not kept whole/);
  });
});

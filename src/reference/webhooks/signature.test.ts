import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, expect, it, onTestFinished } from "vitest";
import { hasOpenssl, hasPython } from "../../base/testing/test-scope.ts";
import { standardDeliveries } from "../behaviour/deliveries.ts";
import { agentEvent, newWebhook, outboxFixture } from "./testing/outbox-fixture.ts";

const openssl = "openssl";
const missing = (tool: string) => `(skipped: ${tool} is not installed)`;

const secret = "whsec_Grüße";
const megabyte = "x".repeat(1_000_000);
const texts: readonly (readonly [string, string])[] = [
  ["ASCII", '{"a":1}'],
  ["non-ASCII", '{"text":"Zoë 東京 🚀"}'],
  ["empty", ""],
  ["large", JSON.stringify({ text: megabyte })],
];

describe.skipIf(!hasOpenssl())(`openssl computes the same signature ${hasOpenssl() ? "" : missing("openssl")}`, () => {
  it.each(texts)("of %s bytes", (_name, text) => {
    const folder = mkdtempSync(join(tmpdir(), "signature-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, "body");
    writeFileSync(file, text);
    const { stdout } = spawnSync(openssl, ["dgst", "-sha256", "-hmac", secret, file], { encoding: "utf8" });
    expect(standardDeliveries.deliverySignature(Buffer.from(text), secret)).toBe(stdout.trim().split("= ").at(-1));
  });
});

/** Responds 204 to a valid signature and 401 to any other. Prints its port and each status. */
const receiverInPython = `
import hashlib, hmac, http.server, sys
class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        expected = hmac.new(sys.argv[1].encode(), body, hashlib.sha256).hexdigest()
        holds = hmac.compare_digest(expected, self.headers["X-Service-Signature"])
        self.send_response(204 if holds else 401)
        self.end_headers()
    def log_message(self, *rest): pass
server = http.server.HTTPServer(("127.0.0.1", 0), Receiver)
print(server.server_port, flush=True)
server.serve_forever()
`;

describe.skipIf(!hasPython())(`a receiver in Python ${hasPython() ? "" : missing("python3")}`, () => {
  async function pythonUrl(): Promise<string> {
    const child = spawn("python3", ["-c", receiverInPython, secret], { stdio: ["ignore", "pipe", "inherit"] });
    onTestFinished(() => void child.kill());
    const [port] = (await once(createInterface(child.stdout), "line")) as [string];
    return `http://127.0.0.1:${port}/`;
  }

  const bodies: readonly (readonly [string, unknown])[] = [
    ["ASCII", { text: "plain" }],
    ["non-ASCII", { text: "Zoë 東京 🚀 \u2028" }],
    ["empty", {}],
    ["large", { text: megabyte }],
  ];
  it("accepts the signature of every body and refuses one of another secret", async () => {
    const { outbox, advance } = outboxFixture();
    const url = await pythonUrl();
    const right = outbox.add(newWebhook(url, { secret }));
    for (const [, data] of bodies) outbox.emit(agentEvent({ data }));
    await advance(0);
    // A single wait may be too short for a receiver in another process.
    while (outbox.deliveriesOf(right.id).some(({ attempts }) => attempts.length === 0)) await outbox.whenIdle();
    const statuses = outbox.deliveriesOf(right.id).map(({ attempts }) => attempts[0]?.status);
    expect(statuses).toEqual(bodies.map(() => 204));
    const wrong = outbox.add(newWebhook(url, { secret: "another", events: ["agent.failed"] }));
    outbox.emit(agentEvent({ type: "agent.failed" }));
    while (outbox.deliveriesOf(wrong.id).some(({ attempts }) => attempts.length === 0)) await outbox.whenIdle();
    expect(outbox.deliveriesOf(wrong.id)[0]?.attempts[0]?.status).toBe(401);
  });
});

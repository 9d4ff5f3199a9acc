import { execFile, execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:https";
import { createServer as createPlainServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { listenOnLoopback } from "../base/network/network.ts";
import { hasOpenssl } from "../base/testing/test-scope.ts";
import { inspectCertificate } from "./certificate.ts";

describe.skipIf(!hasOpenssl())(
  "a server's certificate (made by the command openssl, which this machine has or not)",
  () => {
    let folder: string;
    let server: Server;
    let port: number;

    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), "certificate-"));
      const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
      const wanted = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-days", "2"];
      const opensslArgs = [
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-nodes",
        "-keyout",
        key,
        "-out",
        cert,
      ];
      execFileSync("openssl", ["req", "-x509", ...opensslArgs, ...wanted], { stdio: "ignore" });
      server = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (_, response) => response.end());
      port = await listenOnLoopback(server);
    });

    afterAll(() => {
      server.close();
      rmSync(folder, { recursive: true, force: true });
    });

    it("is read with its names, its end, and why this machine does not trust it", async () => {
      const seen = await inspectCertificate(`https://localhost:${port}/v1`);
      expect(seen).toMatchObject({
        kind: "seen",
        names: ["localhost", "DNS:localhost"],
        validTo: expect.stringMatching(/ GMT$/),
        authorized: false,
        problem: "DEPTH_ZERO_SELF_SIGNED_CERT",
      });
    });

    it("is trusted if NODE_EXTRA_CA_CERTS names its authority, by the HTTP client too", () => {
      const script = `
      import { inspectCertificate } from ${JSON.stringify(new URL("./certificate.ts", import.meta.url).href)};
      import { request } from ${JSON.stringify(import.meta.resolve("undici"))};
      const url = "https://localhost:${port}/v1";
      const [certificate, asked] = [await inspectCertificate(url), await request(url)];
      console.log(certificate.authorized, asked.statusCode);
    `;
      return expect(runScript(script, join(folder, "cert.pem"))).resolves.toBe("true 200");
    });
  },
);

async function runScript(script: string, authority: string): Promise<string> {
  const environment = { ...process.env, NODE_EXTRA_CA_CERTS: authority };
  const options = { env: environment, timeout: 120_000 };
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script], options);
  return stdout.trim();
}

describe("a server without a certificate", () => {
  it("refuses the connection", async () => {
    expect(await inspectCertificate("https://127.0.0.1:1/v1")).toMatchObject({ kind: "unseen" });
  });

  it("speaks no TLS", async () => {
    const server = createPlainServer((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"));
    const port = await listenOnLoopback(server);
    expect(await inspectCertificate(`https://127.0.0.1:${port}/v1`)).toMatchObject({ kind: "unseen" });
    server.close();
  });
});

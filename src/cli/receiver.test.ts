import { createHmac } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { listenOnLoopback } from "../base/network/network.ts";
import { readReport } from "../report/model/report-file.ts";
import { type ServedReceiver, serveReceiver } from "../selftest/receivers/testing/receiver.ts";
import { commandLineIn } from "./testing/command.ts";

const folder = mkdtempSync(join(tmpdir(), "receiver-"));
const conformance = commandLineIn(folder);
const secret = "whsec_5f3a9c0d1e";
const second = "another-secret-of-a-webhook";
const textOf = (...path: readonly string[]): string => readFileSync(join(folder, ...path), "utf8");

let right: ServedReceiver;
let wrong: ServedReceiver;
beforeAll(async () => {
  right = await serveReceiver({}, [secret, second]);
  wrong = await serveReceiver({ mismatchStatus: 403 }, [secret]);
  writeFileSync(join(folder, "secret.txt"), `${secret}\n`);
  writeFileSync(join(folder, "second.txt"), second);
});
afterAll(() => {
  right.close();
  wrong.close();
  rmSync(folder, { recursive: true, force: true });
});

describe("conformance receiver", () => {
  it("judges a right receiver conformant, and writes no secret", async () => {
    const files = ["--secret-file", "secret.txt", "--secret-file", "second.txt", "--header", "X-Tenant: acme-tenant-7"];
    const { code, out } = await conformance([
      "receiver",
      right.url,
      ...files,
      "--out",
      "right",
      "--html",
      "right.html",
      "--statement",
      "statement.json",
    ]);
    expect(out).toMatch(/\nconformant: 10 checks of 10 clauses passed, 5 gap observations/);
    expect(code).toBe(0);
    const report = readReport(textOf("right", "report.json"), "report.json");
    expect(report).toMatchObject({
      party: "receiver",
      verdict: "conformant",
      created: [],
      suite: { requirements: "1.2" },
    });
    const written =
      ["report.json", "evidence.json"].map((name) => textOf("right", name)).join("") + textOf("right.html");
    for (const value of [secret, second, "acme-tenant-7"]) expect(written).not.toContain(value);
    expect(textOf("right.html")).toContain("All 16 clauses");
  });

  it("judges its saved evidence again, with the same result", async () => {
    const { code, out } = await conformance(["rejudge", "right"]);
    expect({ code, out }).toMatchObject({
      code: 0,
      out: expect.stringMatching(/\nconformant: 10 checks of 10 clauses/),
    });
  });

  it("writes a statement that verify accepts for this receiver alone", async () => {
    expect(await conformance(["verify", "statement.json", "right"])).toMatchObject({ code: 0 });
    const statement = textOf("statement.json");
    writeFileSync(join(folder, "other.json"), statement.replaceAll(right.url, "http://127.0.0.1:9/other"));
    expect(statement).toContain(right.url);
    expect(await conformance(["verify", "other.json", "right"])).toMatchObject({ code: 1 });
  });

  it("leaves a report that compare does not mix with one of a server", async () => {
    await conformance(["run", "--only", "LST-1", "--out", "server"]);
    const { code, err } = await conformance(["compare", "server", "right"]);
    expect({ code, err }).toEqual({
      code: 2,
      err: expect.stringContaining("The report server is of a run, the report right of a receiver."),
    });
  });

  it("ends with 1 if a must clause is broken, and shows the delivery", async () => {
    const { code, out } = await conformance(["receiver", wrong.url, "--out", "wrong", "--events", "agent.*"], {
      CONFORMANCE_WEBHOOK_SECRET: secret,
    });
    expect(code).toBe(1);
    expect(out).toMatch(/FAIL {2}RCV-6[^]*a wrong signature: 403[^]*curl -i/);
    expect(out).toMatch(/\nnonconformant: 1 must clause broken \(RCV-6\)/);
  });

  it("ends with 3 if nothing listens", async () => {
    const { code, err } = await conformance(["receiver", "http://127.0.0.1:9/", "--secret-file", "secret.txt"]);
    expect(code).toBe(3);
    expect(err).toMatch(/unreachable: The receiver at .* does not respond/);
  });

  it("ends with 3 if the receiver speaks no HTTP, or ends every connection", async () => {
    for (const firstBytes of ["SSH-2.0-OpenSSH_9.2\r\n", ""]) {
      const server = createServer((socket) => socket.on("error", () => {}).end(firstBytes));
      const url = `http://127.0.0.1:${await listenOnLoopback(server)}/`;
      const { code, err } = await conformance([
        "receiver",
        url,
        "--secret-file",
        "secret.txt",
        "--out",
        `no-http-${firstBytes.length}`,
      ]);
      server.close();
      expect({ code, err }).toEqual({
        code: 3,
        err: expect.stringMatching(/unreachable: The receiver at .* does not respond/),
      });
    }
  });

  it("writes every delivery with --dry-run, and sends nothing", async () => {
    const args = ["receiver", "--secret-file", "secret.txt", "--dry-run", "dry", "--agent", "weather"];
    expect(await conformance(args)).toMatchObject({ code: 0, out: expect.stringMatching(/^dry has \d+ deliveries/) });
    const listed = JSON.parse(textOf("dry", "deliveries.json")) as {
      what: string;
      file: string;
      headers: Record<string, string>;
    }[];
    expect(readdirSync(join(folder, "dry"))).toHaveLength(listed.length + 1);
    const control = listed.find(({ what }) => what === "the right signature");
    const body = textOf("dry", control?.file ?? "");
    expect(JSON.parse(body)).toMatchObject({ agent_id: "weather" });
    expect(control?.headers["X-Service-Signature"]).toBe(createHmac("sha256", secret).update(body).digest("hex"));
  });

  it("writes signature vectors without a secret", async () => {
    expect(await conformance(["receiver", "--vectors", "vectors.json"])).toMatchObject({ code: 0 });
    expect(JSON.parse(textOf("vectors.json"))).toMatchObject({
      format: "agent-hosting-conformance/signature-vectors/1",
      deliveries: expect.arrayContaining([
        expect.objectContaining({ signature: expect.stringMatching(/^[0-9a-f]{64}$/) }),
      ]),
    });
  });

  it.each([
    ["no secret", ["http://127.0.0.1:9/"], /There is no webhook secret\. Set CONFORMANCE_WEBHOOK_SECRET/],
    ["no URL", ["--secret-file", "secret.txt"], /Give the URL of the receiver/],
    ["a URL that is none", ["hooks", "--secret-file", "secret.txt"], /The receiver's address is not a URL: "hooks"/],
    ["ftp", ["ftp://a.example/", "--secret-file", "secret.txt"], /neither http nor https/],
    ["an unknown event", ["--secret-file", "secret.txt", "--events", "agent.done"], /--events has "agent\.done"/],
    ["a header without a name", ["--secret-file", "secret.txt", "--header", "acme"], /--header is not a header/],
    [
      "a header of its own",
      ["--secret-file", "secret.txt", "--header", "Content-Length: 3"],
      /must not name Content-Length/,
    ],
    ["a device as the secret", ["--secret-file", "/dev/zero"], /--secret-file is a device: \/dev\/zero/],
    ["two ways to send nothing", ["--vectors", "v.json", "--dry-run", "dry"], /--dry-run or --vectors, not both/],
    ["a secret file that is not there", ["--secret-file", "none.txt"], /--secret-file cannot be read: none\.txt/],
  ])("refuses %s with 2, in one line", async (_, args, message) => {
    const { code, err } = await conformance(["receiver", ...args]);
    expect({ code, err: err.trim() }).toEqual({ code: 2, err: expect.stringMatching(message) });
    expect(err.trim().split("\n")).toHaveLength(1);
  });
});

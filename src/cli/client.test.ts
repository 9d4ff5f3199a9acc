import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { readReport } from "../report/model/report-file.ts";
import { commandLineIn } from "./testing/command.ts";

const folder = mkdtempSync(join(tmpdir(), "client-"));
const conformance = commandLineIn(folder);
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const textOf = (...path: readonly string[]): string => readFileSync(join(folder, ...path), "utf8");
const script = (name: string, source: string): string => {
  writeFileSync(join(folder, name), source);
  return name;
};

const invoke = (key: string, extra = ""): string => `
const { AGENT_BASE_URL, AGENT_API_KEY, AGENT_ID, ACME_URL, ACME_KEY } = process.env;
const url = AGENT_BASE_URL ?? ACME_URL;
const headers = { Authorization: "Bearer " + ${key}, "Content-Type": "application/json", Accept: "application/json" };
const response = await fetch(url + "/agents/" + AGENT_ID + "/invoke", { method: "POST", headers, body: '{"query":"hi"}' });
${extra}
process.exitCode = response.ok ? 0 : 1;
`;

const ownKey = "ah_live_51HxQ0ZtR8wKpM3nVc7Y";
const right = script("right.mjs", invoke("AGENT_API_KEY"));
const other = script(
  "other.mjs",
  invoke(
    "AGENT_API_KEY",
    `await fetch(url + "/usage", { headers: { ...headers, Authorization: "Bearer ${ownKey}" } });`,
  ),
);
const doubled = script("doubled.mjs", invoke("AGENT_API_KEY", `await fetch(url + "/v1/usage", { headers });`));
const failing = script("failing.mjs", `console.log("no agents today"); process.exitCode = 7;`);
const idle = script("idle.mjs", "");
const hanging = script("hanging.mjs", "setInterval(() => {}, 1000);");

const client = (...args: readonly string[]) => conformance(["client", ...args]);
const node = process.execPath;

describe("conformance client", () => {
  it("judges a client, and writes a report of its party in every format", async () => {
    const { code, out } = await client(
      "--trouble",
      "429,crlf",
      "--out",
      "right",
      "--html",
      "right.html",
      "--",
      node,
      right,
    );
    expect({ code, out }).toMatchObject({ code: 0, out: expect.stringMatching(/\npartial: nothing broken/) });
    const report = readReport(textOf("right", "report.json"), "report.json");
    expect(report).toMatchObject({ party: "client", verdict: "partial", created: [], suite: { requirements: "1.2" } });
    expect(textOf("right.html")).toContain("Calling the service");
  });

  it("judges its saved evidence again, with the same result", async () => {
    const again = await conformance(["rejudge", "right"]);
    expect(again).toMatchObject({ code: 0, out: expect.stringMatching(/\npartial: nothing broken/) });
  });

  it("is compared with another run of the same client, at another address", async () => {
    await client("--no-trouble", "--out", "again", "--", node, right);
    const { code, out } = await conformance(["compare", "again", "right"]);
    expect({ code, out }).toMatchObject({ code: 0, out: expect.not.stringContaining("may not be the same target") });
  });

  it("shows no command for a request that only the client can send, and replays none", async () => {
    const { out } = await client("--no-trouble", "--out", "doubled", "--statement", "s.json", "--", node, doubled);
    expect(out).toMatch(/FAIL {2}CLI-1[^]*> GET .*\/v1\/v1\/usage/);
    expect(out).not.toContain("curl");
    expect(await conformance(["verify", "s.json", "doubled"])).toMatchObject({ code: 0 });
    const replayed = await conformance(["replay", "doubled", "CLI-1"]);
    expect(replayed).toMatchObject({ code: 2, err: expect.stringContaining("Run `conformance client` again.") });
  });

  it("makes a wrong key a note, and writes it nowhere", async () => {
    const { code, out } = await client("--no-trouble", "--out", "other", "--", node, other);
    expect({ code, out }).toMatchObject({ code: 0, out: expect.stringMatching(/note {2,}CLI-2[^]*got another\s+key/) });
    const written = textOf("other", "report.json") + textOf("other", "evidence.json");
    expect(written).not.toContain(ownKey);
    expect(written).not.toContain("ah_client_");
  });

  it("fails for a wrong key with --strict-requests", async () => {
    const { code, out } = await client("--no-trouble", "--strict-requests", "--", node, other);
    expect({ code, out }).toMatchObject({ code: 1, out: expect.stringMatching(/FAIL {2}CLI-2/) });
  });

  it("fails for the version segment twice, which nobody sends on purpose", async () => {
    const { code, out } = await client("--no-trouble", "--", node, doubled);
    expect({ code, out }).toMatchObject({ code: 1, out: expect.stringMatching(/FAIL {2}CLI-1/) });
  });

  it("passes address and key by other names", async () => {
    const names = ["--base-url-variable", "ACME_URL", "--api-key-variable", "ACME_KEY"];
    const own = script("acme.mjs", invoke("ACME_KEY"));
    expect(await client("--no-trouble", ...names, "--", node, own)).toMatchObject({ code: 0 });
  });

  it("judges nothing and ends with 3 if the command fails without trouble", async () => {
    const { code, err } = await client("--", node, failing);
    expect({ code, err }).toMatchObject({
      code: 3,
      err: expect.stringMatching(/no agents today[^]*ended with exit code 7 without trouble[^]*nothing was judged/),
    });
  });

  it("ends with 3 if the command sends nothing", async () => {
    const { code, err } = await client("--", node, idle);
    expect({ code, err }).toMatchObject({ code: 3, err: expect.stringContaining("sent no request") });
  });

  it("ends a command that hangs", async () => {
    const { code, err } = await client("--timeout", "300ms", "--", node, hanging);
    expect({ code, err }).toMatchObject({ code: 3, err: expect.stringContaining("was not over after 0.30 s") });
  });

  it.each([
    ["no command", [], /missing required argument 'command'/],
    ["a command that is not there", ["--", "no-such-client"], /The command was not found: no-such-client/],
    ["a file that cannot be run", ["--", "./right.mjs"], /The command cannot be started: \.\/right\.mjs \(EACCES\)/],
    ["an unknown trouble", ["--trouble", "418", "--", node], /--trouble has "418".*Known: 429, /],
    ["a seed that is no number", ["--seed", "x", "--", node], /--seed is "x"/],
    ["a variable that is none", ["--api-key-variable", "A B", "--", node], /"A B" is no name of an environment/],
    ["one variable for two", ["--agent-variable", "AGENT_API_KEY", "--", node], /Two flags name .* AGENT_API_KEY/],
    ["a certificate without its key", ["--tls-cert", "cert.pem", "--", node], /--tls-cert and --tls-key go together/],
  ])("refuses %s with 2, in one line", async (_, args, message) => {
    const { code, err } = await client(...args);
    expect({ code, err: err.trim() }).toEqual({ code: 2, err: expect.stringMatching(message) });
    expect(err.trim().split("\n")).toHaveLength(1);
  });
});

/** A client that sends a request again at once after a 429, and then hangs. */
const impatient = script(
  "impatient.mjs",
  invoke(
    "AGENT_API_KEY",
    `if (response.status === 429) {
       await fetch(url + "/agents/" + AGENT_ID + "/invoke", { method: "POST", headers, body: '{"query":"hi"}' });
       console.log("now it hangs");
       setInterval(() => {}, 1000);
     }`,
  ),
);

describe("conformance client, interrupted under trouble", () => {
  it("reports what was seen until then, with the seed, and ends with 130", async () => {
    const main = fileURLToPath(new URL("main.ts", import.meta.url));
    const flags = ["--trouble", "429", "--seed", "7", "--show-output", "--out", "interrupted"];
    const child = spawn(node, [main, "client", ...flags, "--", node, impatient], { cwd: folder });
    let [out, err] = ["", ""];
    child.stdout.on("data", (piece: Buffer) => void (out += piece.toString()));
    child.stderr.on("data", (piece: Buffer) => {
      err += piece.toString();
      if (err.includes("now it hangs")) child.kill("SIGINT");
    });
    const [code] = (await once(child, "close")) as [number];
    expect({ code, out }).toEqual({ code: 130, out: expect.stringMatching(/\nincomplete: .*trouble by seed 7/) });
    const report = readReport(textOf("interrupted", "report.json"), "report.json");
    expect(report).toMatchObject({ stopped: "interrupted", trouble: { seed: 7, kinds: ["429"] } });
    const [waits] = report.findings.filter(({ check }) => check === "CLI-12");
    expect(waits).toMatchObject({ outcome: "warning", evidence: [expect.any(String), expect.any(String)] });
    expect(await conformance(["rejudge", "interrupted"])).toMatchObject({ out: expect.stringContaining("seed 7") });
  });
});

const hasOpenSsl = spawnSync("openssl", ["version"]).status === 0;

describe.skipIf(!hasOpenSsl)("conformance client over HTTPS", () => {
  beforeAll(() => {
    const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
    const files = ["-keyout", join(folder, "key.pem"), "-out", join(folder, "cert.pem")];
    spawnSync("openssl", ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", ...subject, ...files]);
  });

  it("serves the host that the certificate names", async () => {
    const own = script(
      "https.mjs",
      `import { execFileSync } from "node:child_process";
       if (!process.env.AGENT_BASE_URL.startsWith("https://localhost:")) process.exit(9);
       execFileSync(process.execPath, ["${right}"], { env: { ...process.env, NODE_EXTRA_CA_CERTS: "cert.pem" } });`,
    );
    const tls = ["--tls-cert", "cert.pem", "--tls-key", "key.pem"];
    expect(await client("--no-trouble", ...tls, "--", node, own)).toMatchObject({ code: 0 });
  });
});

import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { listenOnLoopback } from "../../base/network/network.ts";
import type { Body, Header, SentRequest } from "../../evidence/exchange.ts";
import { startProxy } from "../../base/testing/network.ts";
import { curlCommand, shellVariableFinder } from "./curl.ts";
import { evidenceContextOf } from "./finding-evidence.ts";
import { serializeEvidence } from "../model/report-file.ts";
import { conformanceFunction, sampleExchange, sampleReport, textBody } from "../testing/sample.ts";

interface Arrived {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly string[];
  readonly body: string;
}

const variables: Readonly<Record<string, string>> = { key: "CONFORMANCE_API_KEY", pro: "ACME_PRO", odd: "1; rm -rf" };
const options = {
  shellVariableOf: (name: string) => variables[name],
  evidenceFile: "evidence.json",
  connection: undefined,
};
const authorization: Header = ["Authorization", "Bearer [redacted key]"];
const json: Header = ["Content-Type", "application/json"];
const accept: Header = ["Accept", "application/json"];
const base64 = (bytes: Uint8Array): Body => ({
  kind: "base64",
  base64: Buffer.from(bytes).toString("base64"),
  bytes: bytes.byteLength,
});

const cases: readonly {
  name: string;
  request: Partial<SentRequest>;
  url?: string;
  body?: Uint8Array;
  sent?: Header;
}[] = [
  { name: "a JSON body", request: {} },
  { name: "quotes and expansions", request: { body: textBody(`{"query":"it's \\"$HOME\\" \`id\` !!"}`) } },
  { name: "line feeds and tabs", request: { body: textBody('{\r\n\t"query": "a"\n}\n') } },
  { name: "non-ASCII text", request: { body: textBody('{"query":"Zürich 日本 🙂\u202e"}') } },
  { name: "a body that looks like a file", request: { body: textBody("@/etc/passwd") } },
  { name: "a NUL", request: { body: textBody("a\0b") } },
  { name: "bytes that are no text", request: { body: base64(Uint8Array.of(0xff, 0, 0xfe, 10)) } },
  { name: "a long body", request: { body: textBody(`{"query":"${"é'".repeat(50_000)}"}`) } },
  { name: "long bytes", request: { body: base64(new Uint8Array(9000).fill(0xfe)) } },
  { name: "no body", request: { method: "GET", headers: [authorization, accept], body: { kind: "none" } } },
  { name: "another method", request: { method: "DELETE", headers: [authorization, accept], body: { kind: "none" } } },
  { name: "a body on GET", request: { method: "GET" } },
  { name: "POST without a body", request: { headers: [authorization, accept], body: { kind: "none" } } },
  { name: "no Accept, no Content-Type", request: { headers: [authorization] } },
  { name: "an empty header", request: { headers: [authorization, accept, json, ["X-Signature", ""]] } },
  { name: "a header twice", request: { headers: [accept, json, ["X-A", "1"], ["X-A", "2"]] } },
  { name: "braces in the query", request: { method: "PUT" }, url: "/v1/agents?page={1,2}&limit=[1-3]&q='$x!" },
  { name: "dots in the path", request: {}, url: "/v1/agents/%2e%2e/usage" },
];

describe("a recorded request, sent again by curl", () => {
  let server: Server;
  let port: number;
  let folder: string;
  let origin: string;
  let arrived: Arrived[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "curl-"));
    server = createServer((request, response) => {
      const pieces: Buffer[] = [];
      request.on("data", (piece: Buffer) => pieces.push(piece));
      request.on("end", () => {
        const body = Buffer.concat(pieces).toString("base64");
        arrived.push({ method: request.method ?? "", url: request.url ?? "", headers: request.rawHeaders, body });
        response.end("fine");
      });
    });
    port = await listenOnLoopback(server);
    origin = `http://127.0.0.1:${port}`;
  });

  afterAll(async () => {
    server.close();
    server.closeAllConnections();
    await rm(folder, { recursive: true, force: true });
  });

  async function run(command: string): Promise<{ printed: string; sent: Arrived | undefined }> {
    arrived = [];
    const env = { ...process.env, CONFORMANCE_API_KEY: "ah_secret's", ACME_PRO: "ah_pro", HOME: "/nowhere" };
    const { stdout } = await promisify(execFile)("bash", ["--norc", "-c", `${conformanceFunction}\n${command}`], {
      cwd: folder,
      env,
    });
    return { printed: stdout, sent: arrived[0] };
  }

  it.each(cases)("arrives unchanged: $name", async ({ request, url = "/v1/agents/echo/invoke" }) => {
    const exchange = sampleExchange("x1", { ...request, url: origin + url });
    await writeFile(
      join(folder, "evidence.json"),
      serializeEvidence({ exchanges: [exchange], deliveries: [], probes: [] }),
    );
    const { printed, sent } = await run(curlCommand(exchange, options));
    expect(printed).toMatch(/^HTTP\/1.1 200 OK/);
    expect(sent?.method).toBe(exchange.request.method);
    expect(origin + (sent?.url ?? "")).toBe(new URL(exchange.request.url).href);
    expect(Buffer.from(sent?.body ?? "", "base64")).toEqual(bytesOf(exchange.request.body));
    expect(comparable(sent?.headers ?? [])).toEqual(
      exchange.request.headers
        .map(([name, value]) => [name, value.replace("[redacted key]", "ah_secret's")])
        .toSorted(byText),
    );
  });

  it.each([
    { value: "Bearer [redacted pro]", arrives: "Bearer ah_pro" },
    { value: "Bearer [redacted pro, its last character cut off]x", arrives: "Bearer ah_prx" },
    { value: "[redacted key, its last character cut off]", arrives: "ah_secret'" },
    { value: "Bearer [redacted nobody]", arrives: "Bearer [redacted nobody]" },
    { value: "Bearer [redacted odd]", arrives: "Bearer [redacted odd]" },
  ])("replaces a key by a variable: $value", async ({ value, arrives }) => {
    const headers: Header[] = [accept, json, ["Authorization", value]];
    const { sent } = await run(curlCommand(sampleExchange("x1", { url: `${origin}/v1/usage`, headers }), options));
    expect(comparable(sent?.headers ?? [])).toContainEqual(["Authorization", arrives]);
  });

  it("says that a POST has no body", async () => {
    const bare = { url: `${origin}/v1/usage`, headers: [accept], body: { kind: "none" } } as const;
    const { sent } = await run(curlCommand(sampleExchange("x1", bare), options));
    expect(sent?.headers.join("\n")).toContain("Content-Length\n0");
  });

  it("uses the proxy of the run with a password from a variable, even if NO_PROXY names the host", async () => {
    const proxy = await startProxy(port, `Basic ${Buffer.from("corp:s3cret").toString("base64")}`);
    const connection = { proxy: { url: proxy.url, asksWho: true } };
    const usage = sampleExchange("x1", { method: "GET", url: `${origin}/v1/usage`, body: { kind: "none" } });
    const { sent } = await run(
      `PROXY_USER=corp:s3cret NO_PROXY=127.0.0.1; export NO_PROXY; ${curlCommand(usage, { ...options, connection })}`,
    );
    proxy.close();
    expect([sent?.url, proxy.requests.length]).toEqual([expect.stringMatching(/\/v1\/usage$/), 1]);
  });

  it("asks only for the head with HEAD", async () => {
    const head = { method: "HEAD", url: `${origin}/v1/usage`, headers: [accept], body: { kind: "none" } } as const;
    expect((await run(curlCommand(sampleExchange("x1", head), options))).sent?.method).toBe("HEAD");
  });
});

describe("the command", () => {
  it("is readable", () => {
    expect(curlCommand(sampleExchange("x1"), options)).toBe(
      [
        "curl -i http://127.0.0.1:8080/v1/agents/echo/invoke \\",
        '  -H "Authorization: Bearer $CONFORMANCE_API_KEY" \\',
        "  -H 'Accept: application/json' \\",
        "  -H 'Content-Type: application/json' \\",
        `  --data-raw '{"query":"hello"}'`,
      ].join("\n"),
    );
  });

  it("shows a stream without buffering", () => {
    expect(curlCommand(sampleExchange("x1", { headers: [["accept", "text/event-stream"]] }), options)).toMatch(
      /^curl -i -N /,
    );
  });

  it("uses HTTP/1.1 even if curl would choose another version", () => {
    expect(curlCommand(sampleExchange("x1", { url: "https://acme.example/v1/usage" }), options)).toContain(
      " --http1.1 ",
    );
  });

  it("names the proxy, authorities and certificate of the run", () => {
    const exchange = sampleExchange("x1", { url: "https://acme.example/v1/usage" });
    const connection = {
      proxy: { url: "https://proxy.example:3128", asksWho: true },
      ca: "our own/ca.pem",
      cert: "me.pem",
      key: "me.key",
    };
    const lines = curlCommand(exchange, { ...options, connection }).split(" \\\n  ");
    expect(lines.slice(1, -4)).toEqual([
      "-x https://proxy.example:3128 --noproxy ''",
      '-U "$PROXY_USER"',
      "--proxy-cacert 'our own/ca.pem'",
      "--cacert 'our own/ca.pem'",
      "--cert me.pem",
      "--key me.key",
    ]);
  });

  it("is a comment if the body was not kept whole", () => {
    const body: Body = { kind: "cut", head: "a", tail: "b", bytes: 300_000, sha256: "00" };
    expect(curlCommand(sampleExchange("x1", { body }), options)).toMatch(
      /^# The body of 300000 bytes was not kept whole/,
    );
  });
});

function bytesOf(body: Body): Buffer {
  if (body.kind === "text") return Buffer.from(body.text);
  return body.kind === "base64" ? Buffer.from(body.base64, "base64") : Buffer.alloc(0);
}

const byText = (a: readonly string[], b: readonly string[]): number => (a.join() < b.join() ? -1 : 1);

/** Returns headers as pairs of name and value, without those that every client adds. */
function comparable(raw: readonly string[]): string[][] {
  const pairs = raw.flatMap((name, at) => (at % 2 === 0 ? [[name, raw[at + 1] ?? ""]] : []));
  return pairs.filter(([name = ""]) => !/^(host|user-agent|content-length)$/i.test(name)).toSorted(byText);
}

describe("the shell variable of a key", () => {
  const { target } = sampleReport([]);
  const variableOf = shellVariableFinder({ ...target, variables: { main: "ACME_KEY" } });

  it.each([
    ["main", "ACME_KEY"],
    ["pro", "PRO_KEY"],
    ["key", "CONFORMANCE_API_KEY"],
    ["constructor", "CONSTRUCTOR_KEY"],
    ["main, in part or changed", undefined],
  ])("is that of the target file, or else one by its name: %s", (name, variable) => {
    expect(variableOf(name)).toBe(variable);
  });

  it("is in the command of a report, whatever shows it", () => {
    const report = { ...sampleReport([]), target: { ...target, variables: { key: "ACME_KEY" } } };
    const context = evidenceContextOf({ report, evidence: null });
    expect(curlCommand(sampleExchange("x1"), context)).toContain('"Authorization: Bearer $ACME_KEY"');
  });
});

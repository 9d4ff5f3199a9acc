import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { request } from "undici";
import { describe, expect, it, onTestFinished } from "vitest";

import { listenOnLoopback } from "../../base/network/network.ts";
import { hasOpenssl } from "../../base/testing/test-scope.ts";
import { readTargetFile } from "../../target/target-file.ts";
import { commandLineIn } from "../testing/command.ts";

const folder = mkdtempSync(join(tmpdir(), "serve-"));
const conformance = commandLineIn(folder);

const inFolder = (name: string): string => join(folder, name);
const file = (name: string, content: unknown): string => {
  const path = inFolder(name);
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
  return path;
};

const agent = (changes: object = {}): object => ({
  agent_name: "Weather bot",
  framework: "plain",
  version: "1.0.0",
  agent_architecture: { entrypoints: [{ file: "main.py", module: "answer", tag: "answer" }] },
  ...changes,
});

interface Serving {
  readonly baseUrl: string;
  readonly out: string;
  /** Resolves when standard error contains `part`, with all of its text. */
  readonly said: (part: string) => Promise<string>;
  readonly ask: (path: string, body?: object) => Promise<{ readonly status: number; readonly json: unknown }>;
}

/** Runs `conformance serve` in a separate process until the test ends. */
async function serve(...args: readonly string[]): Promise<Serving> {
  const main = new URL("../main.ts", import.meta.url).pathname;
  const child = spawn(process.execPath, [main, "serve", "--port", "0", "--quiet", ...args], { cwd: folder });
  onTestFinished(() => void child.kill());
  let out = "";
  let err = "";
  const hears = new Set<() => void>();
  const hear = (): void => hears.forEach((each) => each());
  child.stdout.setEncoding("utf8").on("data", (piece: string) => ((out += piece), hear()));
  child.stderr.setEncoding("utf8").on("data", (piece: string) => ((err += piece), hear()));
  child.once("exit", () => ((err += "\n[exit]"), hear()));
  const until = (text: () => string, part: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const poll = (): void => {
        if (text().includes(part)) resolve(text());
        else if (err.endsWith("[exit]")) reject(new Error(`it ended before it said ${part}: ${err}`));
        else return;
        hears.delete(poll);
      };
      hears.add(poll);
      poll();
    });
  await until(() => out, "Ctrl-C stops it.");
  const baseUrl = /base URL {2}(\S+)/.exec(out)?.[1] ?? "";
  const key = /\bah_pro_\S+/.exec(out)?.[0] ?? "";
  return {
    baseUrl,
    out,
    said: (part) => until(() => err, part),
    ask: async (path, body) => {
      const { statusCode, body: answer } = await request(baseUrl + path, {
        method: body === undefined ? "GET" : "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: body === undefined ? null : JSON.stringify(body),
      });
      return { status: statusCode, json: await answer.json() };
    },
  };
}

describe("conformance serve --agent", () => {
  it("serves the agent of the file by its name, by the entrypoint that fits", async () => {
    const { ask, out } = await serve("--agent", file("weather.json", agent()));
    expect(out).toContain("weather-bot");
    expect(out).toMatch(/^status {4}ready$/m);
    expect(await ask("/agents/weather-bot/invoke", { query: "rain?" })).toMatchObject({
      status: 200,
      json: {
        result: { output: "Entrypoint answer (main.py#answer) was given: rain?" },
        metadata: { agent_version: "1.0.0" },
      },
    });
    expect(await ask("/agents/weather-bot/stream", { query: "rain?" })).toMatchObject({
      status: 404,
      json: { error: { code: "ENTRYPOINT_NOT_FOUND" } },
    });
  });

  it.each([
    ["none", 200],
    ["api_key", 401],
  ])("asks for keys unless the auth_settings.type of each file is none (%s)", async (type, status) => {
    const path = file(`auth-${type}.json`, agent({ auth_settings: { type } }));
    const { baseUrl } = await serve("--agent", path);
    expect((await fetch(`${baseUrl}/agents`)).status).toBe(status);
  });

  it("follows edits, a removal and a new file, tells its webhooks, and goes on with the last good one", async () => {
    const heard: string[] = [];
    const receiver = createServer((message, answer) => {
      let body = "";
      message.setEncoding("utf8").on("data", (piece: string) => (body += piece));
      message.on("end", () => {
        const { type } = JSON.parse(body) as { type: string };
        heard.push(`${type} ${String(message.headers["x-team"])}`);
        answer.end();
      });
    });
    const port = await listenOnLoopback(receiver);
    onTestFinished(() => void receiver.close());
    const url = `http://127.0.0.1:${port}/`;
    const webhooks = { endpoints: [{ url, events: ["deployment.*"], headers: { "X-Team": "weather" } }] };
    const path = file("edited.json", agent({ agent_id: "edited", webhooks }));
    const { ask, said } = await serve("--agent", path);
    const version = async (): Promise<unknown> => (await ask("/agents/edited/health")).json;

    // Simulates an editor, which writes a new file and renames it over the old one.
    renameSync(file("edited.json.new", agent({ agent_id: "edited", version: "2.0.0", webhooks })), path);
    await said("edited.json was changed: agent edited has version 2.0.0.");
    expect(await version()).toMatchObject({ version: "2.0.0" });

    file("edited.json", agent({ agent_id: "edited", version: 3, webhooks }));
    await said("edited.json is wrong, the last valid version stays in service: version is 3; it must be a string");
    expect(await version()).toMatchObject({ version: "2.0.0" });

    rmSync(path);
    await said("edited.json was removed");
    expect((await ask("/agents/edited/health")).status).toBe(404);

    file("edited.json", agent({ agent_id: "edited", version: "4.0.0", webhooks }));
    await said("edited.json is back: agent edited has version 4.0.0.");
    expect(await version()).toMatchObject({ version: "4.0.0" });
    await expect
      .poll(() => heard)
      .toEqual(["deployment.updated weather", "deployment.deleted weather", "deployment.created weather"]);
  });
});

describe("conformance serve --write-target", () => {
  it("writes a target file for this server, which only its owner can read, and does not show a token that is given", async () => {
    const path = file("here.json", "");
    const { baseUrl, out } = await serve("--virtual-clock", "--clock-token", "sesame", "--write-target", path);
    expect(out).not.toContain("sesame");
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const target = readTargetFile(path, {});
    expect(target.baseUrl).toBe(baseUrl);
    expect(target.keys).toMatchObject({
      free: { tier: "free", fresh: true },
      expired: { expired: true, expiresInSeconds: null },
      temporary: { expiresInSeconds: 600 },
      reader: { scope: "read-only" },
      oneAgent: { agents: ["echo"] },
      elsewhere: { allowedIps: ["203.0.113.9"] },
      quota: { nearQuota: true },
    });
    expect(target.agents).toMatchObject({ answering: "echo", timingOut: "stuck", webhooked: "herald" });
    expect(Object.keys(target.triggers)).toHaveLength(4);
    expect(target.signing).not.toBeNull();
    expect(target.paths.batch).toBe("/agents/{agent_id}/batch");
    await target.clock?.advance(60_000);
  });

  it("calls keys fresh until they are used, so that a second load on the same server passes too", async () => {
    const path = inFolder("twice.json");
    await serve("--virtual-clock", "--write-target", path);
    const load = async (out: string): Promise<unknown> => {
      const { code, err } = await conformance(["load", "burst", "--target", path, "--out", out]);
      const { load: sent } = JSON.parse(readFileSync(inFolder(join(out, "report.json")), "utf8")) as {
        load: { runs: { isFresh: boolean }[] };
      };
      return { code, err: code === 0 ? "" : err, isFresh: sent.runs.map(({ isFresh }) => isFresh) };
    };
    expect(await load("first")).toEqual({ code: 0, err: "", isFresh: [true] });
    expect(await load("second")).toEqual({ code: 0, err: "", isFresh: [false] });
  });

  it("names no clock where there is none to move, and shows the control token that it made", async () => {
    const path = inFolder("real.json");
    const { out } = await serve("--write-target", path);
    expect(readTargetFile(path, {}).clock).toBeNull();
    expect(out).toMatch(/X-Control-Token: [\w-]{20,}\n/);
  });
});

/** Creates a certificate for localhost with openssl. Returns the paths of the certificate and its key. */
const certificate = (name: string): readonly string[] => {
  const [cert, key] = [inFolder(`${name}.crt`), inFolder(`${name}.key`)];
  const opensslArgs = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  execFileSync("openssl", [...opensslArgs, "-subj", "/CN=localhost", "-keyout", key, "-out", cert], {
    stdio: "ignore",
  });
  return [cert, key];
};

describe("conformance serve with something wrong", () => {
  const text = file("text.json", "words");
  it.each<[string, readonly string[], RegExp]>([
    ["a port that is none", ["--port", "x"], /--port is "x"; give a number from 0 to 65535/],
    ["an agent file that is not there", ["--agent", "none.json"], /--agent cannot be read: \S+none\.json \(ENOENT\)/],
    ["an agent file that is a folder", ["--agent", folder], /--agent cannot be read: \S+ is not a regular file\./],
    [
      "an agent file without an end",
      ["--agent", "/dev/zero"],
      /--agent cannot be read: \/dev\/zero is not a regular file/,
    ],
    [
      "an agent file that is too large",
      ["--agent", file("large.json", JSON.stringify(agent()).padEnd(1024 * 1024 + 1))],
      /--agent \S+large\.json: the file exceeds 1 MiB/,
    ],
    ["a data folder that is a file", ["--data", text], /State cannot be kept in \S+text\.json: .* Name another folder/],
    ["a data folder in a file", ["--data", join(text, "x")], /State cannot be kept in .*ENOTDIR.* Name another folder/],
    ["a data folder where none can be", ["--data", "/proc/x"], /State cannot be kept in \/proc\/x: .*ENOENT/],
    ["an agent file that is no JSON", ["--agent", text], /--agent \S+text\.json: the file is not JSON: /],
    [
      "an agent that has another's id",
      ["--agent", file("taken.json", agent({ agent_id: "echo" }))],
      /agent_id is "echo", which another agent has; choose another/,
    ],
    [
      "an agent whose webhook nothing is delivered to",
      [
        "--agent",
        file("inward.json", agent({ webhooks: { endpoints: [{ url: "http://10.0.0.1/", events: ["agent.*"] }] } })),
      ],
      /webhooks\.endpoints\[0\]\.url is "http:\/\/10\.0\.0\.1\/", but .*--allow-deliveries-to/,
    ],
    ["a proxy that is no address", ["--trust-proxy", "proxy.example"], /--trust-proxy is "proxy\.example"; give an/],
    ["a network that is none", ["--allow-deliveries-to", "10.0.0.0/99"], /--allow-deliveries-to is "10\.0\.0\.0\/99"/],
    ["a token with a blank", ["--clock-token", "open sesame"], /--clock-token is empty, or holds blanks/],
    ["a certificate without a key", ["--tls-cert", text], /--tls-cert and --tls-key go together/],
    [
      "a certificate that is not there",
      ["--tls-cert", "no.pem", "--tls-key", text],
      /--tls-cert cannot be read: no\.pem/,
    ],
    ["a certificate that is none", ["--tls-cert", text, "--tls-key", text], /--tls-cert is not a certificate in PEM/],
    [
      "a target file that cannot be written",
      ["--write-target", join(text, "here.json")],
      /--write-target cannot be written: \S+ \(ENOTDIR\)/,
    ],
  ])("such as %s says so, and ends with 2", async (_name, args, expected) => {
    const { code, err } = await conformance(["serve", "--port", "0", ...args]);
    expect(err).toMatch(expected);
    expect(err).toMatch(/^[^\n]*\n$/);
    expect(code).toBe(2);
  });

  it("such as several things in agent files has a line for each", async () => {
    const wrong = file("wrong.json", agent({ version: 1, deployment: { memory: 512 } }));
    const { code, err } = await conformance(["serve", "--port", "0", "--agent", wrong, "--agent", text]);
    expect(err.split("\n")).toEqual([
      `--agent ${wrong}: version is 1; it must be a string that is not empty (line 1, column 49)`,
      `--agent ${wrong}: deployment.memory is 512; it must be a size with its unit, such as 512MB (line 1, column 166)`,
      expect.stringMatching(/^--agent \S+text\.json: the file is not JSON: /),
      "",
    ]);
    expect(code).toBe(2);
  });

  it.skipIf(!hasOpenssl())("such as a certificate and a key that do not fit says so (needs openssl)", async () => {
    const [cert = "", key = ""] = certificate("one");
    const [, otherKey = ""] = certificate("other");
    const { code, err } = await conformance(["serve", "--port", "0", "--tls-cert", cert, "--tls-key", otherKey]);
    expect(err).toBe(`The key does not fit the certificate: ${otherKey} is not the key of ${cert}.\n`);
    expect(code).toBe(2);
    const { baseUrl } = await serve("--tls-cert", cert, "--tls-key", key);
    expect(baseUrl).toMatch(/^https:/);
  });
});

import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";

import { afterAll, describe, expect, it } from "vitest";

import { reportSchema } from "../report/model/report.ts";

const main = new URL("main.ts", import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), "restart-"));
const started: Started[] = [];
afterAll(() => {
  for (const { child } of started) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

interface Started {
  readonly child: ChildProcessByStdio<null, Readable, Readable>;
  /** Resolves once the output matches a pattern for the given time, and returns the last match. */
  readonly printed: (pattern: RegExp, times?: number) => Promise<string>;
}

function start(args: readonly string[], variables: Readonly<Record<string, string>> = {}): Started {
  const env = { PATH: process.env["PATH"], NO_COLOR: "1", ...variables };
  const child = spawn(process.execPath, [main, ...args], { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  const waiting = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (part: Buffer) => {
      output += part.toString();
      for (const look of waiting) look();
    });
  const printed = (pattern: RegExp, times = 1): Promise<string> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const found = [...output.matchAll(new RegExp(pattern, "gm"))];
        if (found.length >= times) resolve(found[times - 1]?.[1] ?? "");
      };
      waiting.add(look);
      child.once("exit", () => reject(new Error(`ended early: ${output}`)));
      look();
    });
  started.push({ child, printed });
  return { child, printed };
}

const clausesOf = (report: string): string[] => [
  ...new Set(
    reportSchema
      .parse(JSON.parse(readFileSync(join(folder, report, "report.json"), "utf8")))
      .findings.map(({ clause }) => clause),
  ),
];

describe("run --rerun-on-restart", () => {
  it(
    "repeats what failed once the server is back, then the whole run, until Ctrl-C",
    { timeout: 120_000 },
    async () => {
      const broken = start(["serve", "-p", "0", "--fault", "missing-query-other-code"]);
      const port = await broken.printed(/base URL +\S+:(\d+)\/v1/);
      const key = await broken.printed(/^ +team +team +(\S+)/);
      const flags = ["--only", "INV-10", "--only", "HLT-1", "--rerun-on-restart", "--out", "it", "-q"];
      const run = start(["run", "--base-url", `http://127.0.0.1:${port}/v1`, ...flags], { CONFORMANCE_API_KEY: key });

      await run.printed(/Waiting until .* is restarted/);
      broken.child.kill();
      await run.printed(/ is away\./);
      const mended = start(["serve", "-p", port]);
      await run.printed(/Waiting until .* is restarted/, 2);
      mended.child.kill();
      await run.printed(/ is away\./, 2);
      start(["serve", "-p", port]);
      await run.printed(/Waiting until .* is restarted/, 3);
      run.child.kill("SIGINT");

      expect(await once(run.child, "exit")).toEqual([0, null]);
      expect(["it", "it-2", "it-3"].map(clausesOf)).toEqual([["INV-10", "HLT-1"], ["INV-10"], ["INV-10", "HLT-1"]]);
    },
  );

  it("is refused without a target", async () => {
    const { child, printed } = start(["run", "--rerun-on-restart"]);
    const ended = once(child, "exit");
    expect(await printed(/^(--rerun-on-restart needs a target): /)).toBe("--rerun-on-restart needs a target");
    expect(await ended).toEqual([2, null]);
  });
});

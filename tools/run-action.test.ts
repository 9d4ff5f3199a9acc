import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";

// @ts-expect-error plain JavaScript, for it runs on the host's Node.
import * as tool from "./run-action.mjs";

interface Ran {
  readonly code: number;
  readonly output: string;
  readonly outputs: Readonly<Record<string, string>>;
}
interface How {
  readonly checkout: string;
  readonly cwd: string;
  readonly inputs: Readonly<Record<string, string>>;
  readonly env: NodeJS.ProcessEnv;
}
const { runAction } = tool as { runAction: (how: How) => Promise<Ran> };

const checkout = fileURLToPath(new URL("..", import.meta.url));
const command = join(checkout, "bin", "conformance.js");
const work = mkdtempSync(join(tmpdir(), "pipelines-"));
/** The environment without the variables of a CI system, which would change the result. */
const env = { ...process.env, NO_COLOR: "1", GITHUB_ACTIONS: "", GITHUB_STEP_SUMMARY: "" };
const act = (inputs: Readonly<Record<string, string>>) => runAction({ checkout, cwd: work, inputs, env });

let stop = (): void => {};

// Starts the target of the examples: a server in a process of its own, whose clock the run can advance.
beforeAll(async () => {
  mkdirSync(join(work, "conformance"));
  writeFileSync(join(work, "conformance", "baseline.json"), '{"known": []}');
  const target = join(work, "conformance", "target.json");
  const server = spawn(process.execPath, [
    command,
    "serve",
    "--port",
    "0",
    "--virtual-clock",
    "--write-target",
    target,
  ]);
  stop = () => void server.kill();
  // The server prints its message after it has written the file.
  const said = await Promise.race([once(server.stdout, "data"), once(server.stderr, "data")]);
  if (!existsSync(target)) throw new Error(`The server did not start: ${String(said[0])}`);
});

afterAll(() => {
  stop();
  rmSync(work, { recursive: true });
});

describe("the action", () => {
  it("judges, and gives the verdict and the folder of the report", async () => {
    const { code, outputs } = await act({ args: "--only\nINV-*\n" });
    expect([code, outputs]).toEqual([0, { verdict: "partial", report: "conformance-report", "exit-code": "0" }]);
    expect(existsSync(join(work, "conformance-report", "evidence.json"))).toBe(true);
  });

  it("fails where something is broken, and still gives both", async () => {
    const { code, output, outputs } = await act({ args: "--only\nINV-2\n--fault\nresult-is-text", out: "broken here" });
    expect([code, outputs]).toEqual([1, { verdict: "nonconformant", report: "broken here", "exit-code": "1" }]);
    expect(output).toContain("FAIL  INV-2");
  });

  it("takes a line as one argument, whatever stands in it", async () => {
    const { code, output, outputs } = await act({ args: "--only\n$(touch planted); *\r\n" });
    expect([code, outputs]).toEqual([2, { verdict: "", report: "", "exit-code": "2" }]);
    expect(output).toContain('--only "$(touch planted); *" matches no clause');
    expect(existsSync(join(work, "planted"))).toBe(false);
  });

  it("shows no verdict of an earlier step", async () => {
    await act({ args: "--only\nINV-2", out: "twice" });
    const { outputs } = await act({ args: "--no-such-flag", out: "twice" });
    expect(outputs["verdict"]).toBe("");
  });

  it("takes a base URL, and the key from the environment", async () => {
    const file = JSON.parse(readFileSync(join(work, "conformance", "target.json"), "utf8")) as {
      baseUrl: string;
      keys: { pro: { key: string } };
    };
    const { code, outputs } = await runAction({
      checkout,
      cwd: work,
      inputs: { "base-url": file.baseUrl, args: "--only\nAUTH-3" },
      env: { ...env, CONFORMANCE_API_KEY: file.keys.pro.key },
    });
    expect([code, outputs["verdict"]]).toEqual([0, "partial"]);
  });
});

interface Workflow {
  readonly jobs: Readonly<
    Record<string, { readonly steps: readonly { uses?: string; with?: Record<string, string> }[] }>
  >;
}

/** Additional arguments for the examples, so that the test ends soon. */
const shorter: Readonly<Record<string, readonly string[]>> = {
  run: ["--only", "INV-*"],
  nightly: ["--only", "INV-*", "--no-load"],
};

describe("the examples", () => {
  it.each(["ci.yml", "nightly.yml"])("github/%s calls the action with what it takes", async (file) => {
    const { jobs } = parse(readFileSync(join(checkout, "examples", "github", file), "utf8")) as Workflow;
    const steps = Object.values(jobs).flatMap((job) => job.steps);
    const [step] = steps.filter(({ uses }) => uses?.includes("agent-hosting-conformance@") === true);
    const inputs = step?.with ?? {};
    const args = [inputs["args"] ?? "", ...(shorter[inputs["command"] ?? "run"] ?? [])].join("\n");
    const { code, output } = await act({ ...inputs, args });
    expect(code, output).toBe(0);
    const kept = inputs["command"] === "nightly" ? "conformance-history/trend.html" : "conformance-report/index.html";
    expect(existsSync(join(work, kept))).toBe(true);
  });

  it.each(["conformance", "nightly"])("gitlab: the script of %s runs", async (job) => {
    const file = join(checkout, "examples", "gitlab", ".gitlab-ci.yml");
    const jobs = parse(readFileSync(file, "utf8")) as Record<string, { script: readonly string[]; artifacts: object }>;
    const shims = join(work, "shims");
    mkdirSync(shims, { recursive: true });
    // Makes `npx` run this checkout instead of the published package.
    const words = `${process.execPath} ${command} "\${@:3}" ${(shorter[job === "nightly" ? job : "run"] ?? []).map((word) => `'${word}'`).join(" ")}`;
    writeFileSync(
      join(shims, "npx"),
      `#!/usr/bin/env bash\n[ "$1 $2" = "--yes agent-hosting-conformance@0.1" ] && exec ${words}\n`,
    );
    chmodSync(join(shims, "npx"), 0o755);
    const path = `${shims}${delimiter}${dirname(process.execPath)}${delimiter}${process.env["PATH"] ?? ""}`;
    const script = (jobs[job]?.script ?? ["exit 9"]).join("\n");
    await promisify(execFile)("bash", ["-euo", "pipefail", "-c", script], { cwd: work, env: { ...env, PATH: path } });
    const kept = job === "nightly" ? "conformance-history/trend.html" : "conformance-report/junit.xml";
    expect(readFileSync(join(work, kept), "utf8")).toMatch(/^<(\?xml|!doctype)/);
    expect(JSON.stringify(jobs[job]?.artifacts)).toContain(kept.split("/")[0]);
  });
});

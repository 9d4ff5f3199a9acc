import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";

import { describe, expect, it } from "vitest";

const main = new URL("main.ts", import.meta.url).pathname;
const key = "ah_9kQ2vXt41mW5zLp7Yc3";

/** Runs a command in a separate process. Before, the code in `defect` breaks something in that process. */
async function broken(defect: string, ...args: string[]): Promise<{ code: unknown; err: string }> {
  const child = spawn(
    process.execPath,
    ["--import", `data:text/javascript,${encodeURIComponent(defect)}`, main, ...args],
    {
      env: { PATH: process.env["PATH"], NO_COLOR: "1", CONFORMANCE_API_KEY: key },
      stdio: ["ignore", "ignore", "pipe"],
    },
  );
  const [err, [code]] = await Promise.all([text(child.stderr), once(child, "exit") as Promise<unknown[]>]);
  return { code, err };
}

const fault = "const fault = () => { throw new TypeError(`no field\\nin ${process.env.CONFORMANCE_API_KEY}`); };";

describe.concurrent("a defect of the harness that nobody foresaw", () => {
  it.each([
    ["in the middle of a command", `${fault} process.stdout.write = fault;`, ["list"]],
    [
      "while nothing waits for it",
      `${fault} setInterval(() => process.listenerCount("uncaughtException") > 0 && fault(), 20);`,
      ["serve"],
    ],
  ])("%s is told in one line, with its place and without a key", async (_, defect, args) => {
    const { code, err } = await broken(defect, ...args);
    const [first, second, ...others] = err.trimEnd().split("\n");
    expect([code, first]).toEqual([
      4,
      "The harness itself failed, which is not the target's fault: TypeError: no field in [redacted key]. Please report it, with the lines below.",
    ]);
    expect(second).toMatch(/^ {4}at /);
    expect(others.filter((line) => !line.startsWith("    at "))).toEqual([]);
  });
});

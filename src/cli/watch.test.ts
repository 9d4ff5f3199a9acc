import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";

import { request } from "undici";
import { describe, expect, it, onTestFinished } from "vitest";

import { readEvidence, readReport } from "../report/model/report-file.ts";
import { startHosting } from "../suites/testing/hosting.ts";
import { readState } from "../app/watch/watch-files.ts";
import { commandLineIn } from "./testing/command.ts";
import type { Judged } from "./testing/judged-session.ts";
import { folderOf, stoppedRun } from "./watch/testing/stopped-run.ts";

const main = new URL("main.ts", import.meta.url).pathname;
const conformance = commandLineIn(tmpdir());
const key = "pk_correct-horse-9f2c71";

interface Running {
  readonly child: ChildProcess;
  readonly err: () => string;
  /** Resolves when standard error contains the text. */
  readonly says: (text: string) => Promise<void>;
  readonly ended: Promise<{ readonly code: number | null; readonly out: string; readonly err: string }>;
}

function start(args: readonly string[], variables: Readonly<Record<string, string>> = {}): Running {
  const env = { PATH: process.env["PATH"], NO_COLOR: "1", ...variables };
  const child = spawn(process.execPath, [main, ...args], { env, stdio: ["ignore", "pipe", "pipe"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  let err = "";
  child.stderr.on("data", (piece: Buffer) => (err += piece.toString()));
  const out = text(child.stdout);
  const closed = once(child, "close") as Promise<[number | null]>;
  return {
    child,
    err: () => err,
    says: async (wanted) => {
      while (!err.includes(wanted)) await Promise.race([once(child.stderr, "data"), closed.then(() => failed(err))]);
    },
    ended: closed.then(async ([code]) => ({ code, out: await out, err })),
  };
}

const failed = (err: string): never => {
  throw new Error(`the command ended early: ${err}`);
};

/** Sends the next attempt of the delivery that always fails. Reads the receiver's address from the folder. */
async function attemptAgain(folder: string): Promise<void> {
  const { receiver } = readState(folder);
  const { deliveries } = readEvidence(readFileSync(join(folder, "evidence.json"), "utf8"), "evidence.json");
  const first = deliveries.find(({ hook }) => hook === "webhook-failing");
  const hook = receiver.hooks.find(({ name }) => name === first?.hook);
  if (first?.request.body.kind !== "text") throw new Error("the run had no delivery that always fails");
  const url = `http://${receiver.listen}/${hook?.token}/${hook?.name}`;
  await (await request(url, { method: "POST", body: first.request.body.text })).body.dump();
}

/** Changes `watch.json` as if the run had taken place a day earlier. */
function letADayPass(folder: string): void {
  const file = join(folder, "watch.json");
  const state = readState(folder);
  writeFileSync(file, JSON.stringify({ ...state, epochMs: state.epochMs - 24 * 3_600_000 }));
}

const outcomesIn = (report: string): Record<string, string> =>
  Object.fromEntries(readReport(report, "report.json").findings.map(({ check, outcome }) => [check, outcome]));

const oneLine = (err: string): boolean => err.trim().split("\n").length === 1;

describe("`run --watch` and `watch`", () => {
  let stopped: Judged | undefined;

  it("are stopped and taken up again, and lose nothing that came", async () => {
    const hosting = await startHosting({ pauses: [] }, false);
    onTestFinished(hosting.close);
    const folder = join(mkdtempSync(join(tmpdir(), "conformance-watch-")), "report");
    const variables = { CONFORMANCE_BASE_URL: hosting.target.baseUrl, CONFORMANCE_API_KEY: key };
    const selection = ["--only", "HOOK-26", "--agent", "clerk", "--tier", "team", "--max-wait", "1ms"];

    const run = start(["run", "--watch", ...selection, "--out", folder, "--json", "-"], variables);
    await run.says("watching: attempt 1 came");
    await attemptAgain(folder);
    await run.says("watching: attempt 2 came");
    run.child.kill("SIGINT");
    const halfway = await run.ended;
    expect(halfway.code).toBe(130);
    expect(halfway.err).toContain(`resume before too many are missed: node src/cli/main.ts watch ${folder}`);
    expect(outcomesIn(halfway.out)).toMatchObject({ "HOOK-26": "pass" });
    expect(readFileSync(join(folder, "report.json"), "utf8")).toBe(halfway.out);

    const watch = start(["watch", folder], variables);
    await watch.says("watching: attempt 2 came");
    const second = await conformance(["watch", folder], variables);
    expect(second.err).toMatch(
      new RegExp(`^${folder} is in use by process ${watch.child.pid} on .*, since .*\\. Wait for its end\\.\\n$`),
    );
    expect(second.code).toBe(2);
    watch.child.kill("SIGINT");
    expect((await watch.ended).code).toBe(130);

    letADayPass(folder);
    const late = await start(["watch", folder, "--json"], variables).ended;
    expect(late.code).toBe(0);
    expect(outcomesIn(late.out)).toMatchObject({ "HOOK-26": "pass" });
    expect(existsSync(join(folder, "watch.json"))).toBe(false);
    expect((await conformance(["watch", folder], variables)).err).toContain("Nothing is left to watch");
  });

  it.each([
    ["no target", {}, "The keys of the run are needed"],
    ["another target", { CONFORMANCE_BASE_URL: "http://127.0.0.1:9/v1", CONFORMANCE_API_KEY: key }, "The run judged"],
  ])("refuse %s, because its keys must not get into the report", async (_what, variables, sentence) => {
    stopped ??= await stoppedRun();
    const { folder } = folderOf(stopped);
    const refused = await conformance(["watch", folder], variables);
    expect(refused).toMatchObject({ code: 2, out: "" });
    expect(refused.err).toContain(sentence);
    expect(oneLine(refused.err)).toBe(true);
  });

  it("end at once where the target's clock has shown the whole schedule", async () => {
    const folder = join(mkdtempSync(join(tmpdir(), "conformance-watch-")), "report");
    const { code, err } = await conformance(["run", "--watch", "--only", "HOOK-27", "--out", folder]);
    expect(err).toContain("nothing to watch: the target's clock covered the whole retry schedule");
    expect(code).toBe(0);
    expect(existsSync(join(folder, "watch.json"))).toBe(false);
  });

  it("say where nothing is left to watch", async () => {
    const ended = await conformance(["watch", tmpdir()]);
    expect(ended).toMatchObject({ code: 2, out: "" });
    expect(oneLine(ended.err)).toBe(true);
  });
});

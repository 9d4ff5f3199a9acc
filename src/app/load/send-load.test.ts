import { newestRequirements } from "../../spec/clause.ts";
import { defaultBounds } from "../../run/plan/bounds.ts";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";

import { defaultRegressionRules } from "../../report/compare/regression-rules.ts";
import { type EmbeddedServer, startEmbedded } from "../../reference/embedded/embedded-server.ts";
import type { RunTrialsOptions, TrialResult } from "../../load/run-trials.ts";
import { evidenceOf, sample } from "../../load/testing/samples.ts";
import type { Report } from "../../report/model/report.ts";
import { readReport } from "../../report/model/report-file.ts";
import { selectChecks } from "../../run/plan/selection.ts";
import { aKey, aTarget } from "../../run/testing/values.ts";
import { suites } from "../../suites/all.ts";
import { runNight } from "../nightly/run-night.ts";
import { judgeVendors } from "../vendors/judge-vendors.ts";
import { prepareLoad, silentLoadEvents, type SendLoadOptions, sendLoad } from "./send-load.ts";
import { defaultLoadParameters } from "./plan-load.ts";
import { cliMessages } from "../../cli/messages.ts";
import { nightExitCode } from "../../cli/commands/nightly.ts";
import { startLink } from "../../cli/testing/trouble/link.ts";
import type { Target } from "../../target/target.ts";

/** The options of each call of `runTrials`, in order. */
const conducted: RunTrialsOptions[] = [];

vi.mock(import("../../load/run-trials.ts"), async (original) => {
  const real = await original();
  const runTrials = async (options: RunTrialsOptions): Promise<TrialResult[]> => {
    conducted.push(options);
    const outcomes = options.trials.map((trial) => {
      const { scenario, tier, engine } = trial;
      const evidence = evidenceOf([sample()], { scenario: scenario.name, tier, engine });
      return real.judgeTrial(trial, { ...evidence, notes: ["the key is pk_load_secret"] });
    });
    outcomes.forEach(options.onResult);
    return await Promise.resolve(outcomes);
  };
  return { ...real, runTrials };
});

const root = mkdtempSync(join(tmpdir(), "send-load-"));
let embedded: EmbeddedServer;
beforeAll(async () => {
  embedded = await startEmbedded();
});
afterAll(async () => {
  await embedded.close();
  rmSync(root, { recursive: true });
});

/** The embedded target without its test clock. Its keys therefore pause in real time. */
const targetHere = () => ({ ...embedded.target, clock: null });
const engines = { autocannon: null, k6: null };
const scenarios = ["burst", "concurrency"];
const signal = new AbortController().signal;
const bounds = {
  ...defaultBounds,
  suites: selectChecks(suites, { only: ["INV-10"], skip: [] }),
  maxWaitMs: 0,
  messages: cliMessages,
  requirements: newestRequirements,
  signal,
};

async function byNight(
  history: string,
  readOnly = false,
  { target, onRunEnd }: { readonly target: Target; readonly onRunEnd: () => void } = {
    target: targetHere(),
    onRunEnd: () => {},
  },
) {
  return await runNight({
    ...bounds,
    readOnly,
    history,
    target,
    patches: [],
    load: { ...defaultLoadParameters, scenarios },
    engines,
    agree: () => false,
    keep: { nights: 10, reports: 10 },
    rules: defaultRegressionRules,
    page: null,
    view: { damaged() {}, run: { events: {}, done: onRunEnd }, load: silentLoadEvents, again() {} },
  });
}

const byVendors = (folder: string, readOnly = false) =>
  judgeVendors({
    vendors: [{ kind: "target", name: "one", target: targetHere, load: null }],
    judging: { ...bounds, readOnly },
    load: { parameters: { ...defaultLoadParameters, scenarios }, engines, planned() {}, agree: () => false },
    concurrency: 1,
    from: null,
    folder,
    sayOf: () => () => {},
  });

const written = (folder: string): Report =>
  readReport(readFileSync(join(folder, "report.json"), "utf8"), "report.json");

/** A report without its times, so that the reports of two runs can be compared. */
const partsOf = (report: Report): object => ({ ...report, started: "", finished: "", durationMs: 0, waitedMs: 0 });

describe("load that is sent by load, nightly and vendors", () => {
  it("gives the same report of the same target, tiers included", async () => {
    const sent = await sendLoad(
      { target: targetHere(), scenarios, engines, messages: cliMessages, signal },
      join(root, "load"),
    );
    expect(sent.kind).toBe("sent");
    const night = await byNight(join(root, "nights"));
    if (night.kind !== "kept" || night.reports === null) throw new Error("the night was not kept");
    await byVendors(join(root, "vendors"));
    const [alone, nightly, beside] = [
      join(root, "load"),
      join(night.reports, "load"),
      join(root, "vendors", "one-load"),
    ];
    expect(written(nightly).target.tiers).toMatchObject({ pro: "pro", free: "free" });
    expect(partsOf(written(nightly))).toEqual(partsOf(written(alone)));
    expect(partsOf(written(beside))).toEqual(partsOf(written(alone)));
  });

  it("rests the keys after a run, and takes them for used", async () => {
    const [alone, nightly, beside] = conducted;
    const trial = alone?.trials[0];
    if (trial === undefined) throw new Error("nothing was conducted");
    expect(alone?.environment.cooldownMs(trial)).toBeLessThanOrEqual(0);
    for (const each of [nightly, beside]) {
      expect(each?.environment.cooldownMs(trial)).toBeGreaterThan(30_000);
      expect((await each?.environment.setUp(trial))?.target.isFresh).toBe(false);
    }
  });

  it("leaves a night incomplete, and ends it with 3, if the target is gone after the run", async () => {
    const { target } = embedded;
    const link = await startLink(Number(new URL(target.baseUrl).port), () => 0);
    onTestFinished(link.close);
    const night = await byNight(join(root, "gone"), false, {
      target: { ...target, baseUrl: target.baseUrl.replace(/:\d+/, `:${link.port}`) },
      onRunEnd: () => void link.setMode({ kind: "refusing", cutsOpen: true }),
    });
    if (night.kind !== "kept") throw new Error("the night was not kept");
    expect(night.night).toMatchObject({
      verdict: "incomplete",
      stopped: expect.stringMatching(/^No load was sent: No /),
    });
    expect(nightExitCode(night, false)).toBe(3);
  });

  it("is not sent where nothing but GET may be", async () => {
    const before = conducted.length;
    const night = await byNight(join(root, "reading"), true);
    expect(night).toMatchObject({ kind: "kept", executed: { load: null, noLoad: { kind: "read only" } } });
    const { judged } = await byVendors(join(root, "reading-vendors"), true);
    expect(judged[0]?.vendor).toMatchObject({ load: null, notes: [expect.stringMatching(/^No load was sent: /)] });
    expect(conducted.length).toBe(before);
  });
});

describe("sending load from a program", () => {
  const far = () =>
    aTarget("https://agents.example/v1", { keys: { main: aKey({ name: "main", key: "k", tier: "pro" }) } });
  const send = (other: Partial<SendLoadOptions>) =>
    sendLoad({ target: targetHere(), engines, messages: cliMessages, ...other });

  it("writes nothing where no folder is named, and keeps no secret", async () => {
    const spare = aKey({ name: "spare", key: "pk_load_secret", tier: "gold" });
    const target = { ...targetHere(), keys: { ...targetHere().keys, spare } };
    const sent = await send({ target, scenarios, tier: "pro", signal });
    if (sent.kind !== "sent") throw new Error("nothing was sent");
    expect(sent.folder).toBeNull();
    expect([...sent.document.load.values()].every(({ notes }) => notes[0] === "the key is [redacted spare]")).toBe(
      true,
    );
    expect(Object.keys(sent.digests)).toEqual([
      "load/burst-pro-autocannon.json",
      "load/concurrency-pro-autocannon.json",
    ]);
  });

  it("never waits for less than no time, even if the clock of the machine jumps back", async () => {
    const realNow = Date.now;
    onTestFinished(() => void vi.restoreAllMocks());
    const outcome = (): void => void vi.spyOn(Date, "now").mockImplementation(() => realNow() - 3_600_000);
    const sent = await send({ scenarios, tier: "pro", signal, events: { ...silentLoadEvents, outcome } });
    if (sent.kind !== "sent") throw new Error("nothing was sent");
    expect(sent.document.report.waitedMs).toBeGreaterThanOrEqual(0);
  });

  it.each<[string, () => Partial<SendLoadOptions>, object]>([
    ["an unknown scenario", () => ({ scenarios: ["brust"] }), { kind: "unknown scenario", near: ["burst"] }],
    [
      "a tier that there is no key of",
      () => ({ target: far(), tier: "free" }),
      { kind: "no key of the tier", tiers: ["pro"] },
    ],
    ["nothing that is for the tier", () => ({ scenarios: ["far-over"], tier: "free" }), { kind: "nothing to send" }],
    ["an aborted signal", () => ({ signal: AbortSignal.abort() }), { kind: "interrupted" }],
  ])("says as data why there is none: %s", async (_, other, why) => {
    expect(await send(other())).toMatchObject({ kind: "not sent", why });
  });

  it("asks before it sends to a server that is not on loopback, and sends nothing to one without being asked", async () => {
    const before = conducted.length;
    const target = { ...targetHere(), baseUrl: targetHere().baseUrl.replace("127.0.0.1", "0.0.0.0") };
    const confirmations: unknown[] = [];
    const refused = await send({ target, scenarios, agree: (outlook) => confirmations.push(outlook) > 1 });
    expect(refused).toEqual({ kind: "not sent", why: { kind: "not agreed" }, kept: null });
    expect(confirmations).toMatchObject([{ baseUrl: target.baseUrl, unsendable: [] }]);
    expect(await send({ target, scenarios })).toEqual(refused);
    expect(conducted.length).toBe(before);
  });

  it("counts the trials of every call for `maxRequests`", async () => {
    const prepared = await prepareLoad({ target: null, scenarios, engines, messages: cliMessages, maxRequests: 100 });
    if (prepared.kind === "not sent") throw new Error("nothing was sent");
    onTestFinished(prepared.close);
    const { document } = await prepared.sendTrials(prepared.trials, null);
    await prepared.sendTrials(prepared.trials, null);
    expect(document.report.requests).toBeGreaterThan(0);
    expect(conducted.slice(-2).map(({ maxRequests }) => maxRequests)).toEqual([100, 100 - document.report.requests]);
  });

  it("goes on in one other folder where the folder cannot be written", async () => {
    const problems: string[] = [];
    const events = { ...silentLoadEvents, problem: (sentence: string) => void problems.push(sentence) };
    const sent = await sendLoad(
      { target: targetHere(), scenarios, engines, messages: cliMessages, events },
      "/proc/none",
    );
    if (sent.kind !== "sent" || sent.folder === null) throw new Error("nothing was kept");
    expect(problems).toHaveLength(1);
    const files = [...sent.document.load.keys(), "report.json"];
    expect(files.filter((file) => !existsSync(join(sent.folder ?? "", file)))).toEqual([]);
    rmSync(sent.folder, { recursive: true });
  });
});

import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { once } from "node:events";
import { join } from "node:path";

import { beforeAll, describe, expect, it, onTestFinished } from "vitest";

import { readEvidence, readReport } from "../../report/model/report-file.ts";
import type { RemainingRetries } from "../../suites/deliveries/retry-evidence.ts";
import { UseCaseError } from "../../app/use-case-error.ts";
import { UsageError } from "../../base/line.ts";
import { saveRun, type SavedRun } from "../../app/report-folder/saved-report.ts";
import { judgeWatched, startWatch, type Watch, type WatchEnd } from "../../app/watch/watch.ts";
import { readJournal, readState, type WatchState, deleteWatchFiles } from "../../app/watch/watch-files.ts";
import type { Judged } from "../testing/judged-session.ts";
import {
  attemptAgain,
  firstAttemptMs,
  folderOf,
  passingTime,
  type PassingTime,
  stoppedRun,
} from "./testing/stopped-run.ts";
import { cliMessages } from "../messages.ts";

const minute = 60_000;
let run: Judged;
let firstMs: number;
beforeAll(async () => {
  run = await stoppedRun();
  firstMs = firstAttemptMs(run);
});

interface Watching extends Watch {
  readonly folder: string;
  readonly state: WatchState;
  readonly time: PassingTime;
  readonly outlooks: readonly RemainingRetries[];
  /** Number of progress reports before the receiver listened; `null` if it never did. */
  readonly outlooksBefore: number | null;
  readonly interrupt: () => void;
  /** Advances the clock to this time after the first attempt, and then sends another attempt. */
  readonly attemptAt: (ms: number) => Promise<void>;
  readonly passTo: (ms: number) => void;
}

/**
 * Starts a watch.
 *
 * @param before an earlier watch to resume, and the time to resume it, in milliseconds after the first attempt
 */
async function watch(before: { readonly folder: string; readonly atMs: number } | null = null): Promise<Watching> {
  const { folder, state } =
    before === null ? folderOf(run) : { folder: before.folder, state: readState(before.folder) };
  const time = passingTime(state.epochMs, before === null ? state.sinceMs + 40 : firstMs + before.atMs);
  const outlooks: RemainingRetries[] = [];
  let outlooksBefore: number | null = null;
  const controller = new AbortController();
  const watching = await startWatch({
    folder,
    state,
    evidence: run.evidence,
    secrets: [{ name: "key", value: "pk_correct-horse-9f2c71" }],
    signal: controller.signal,
    onOutlook: (outlook) => outlooks.push(outlook),
    onListening: () => {
      outlooksBefore = outlooks.length;
    },
    timers: time,
  });
  onTestFinished(async () => {
    controller.abort();
    await watching.ended;
  });
  const passTo = (ms: number): void => time.passTo(firstMs + ms);
  return {
    ...watching,
    folder,
    state,
    time,
    outlooks,
    outlooksBefore,
    interrupt: () => controller.abort(),
    passTo,
    attemptAt: async (ms) => {
      passTo(ms);
      expect(await attemptAgain(run)).toBe(500);
    },
  };
}

function judge(end: WatchEnd, { state }: Watching): SavedRun {
  return judgeWatched(run, state, end.watched, cliMessages);
}

const outcomesOf = ({ report }: SavedRun): Record<string, string> =>
  Object.fromEntries(
    report.findings
      .filter(({ check }) => /^HOOK-2[678]$/.test(check))
      .map(({ check, outcome, reading }) => [check, reading ?? outcome]),
  );

const unproven = { "HOOK-26": "skipped", "HOOK-27": "skipped", "HOOK-28": "skipped" };

describe("a watch", () => {
  it("sees the whole schedule, is over then, and has it judged", async () => {
    expect(outcomesOf(run)).toEqual(unproven);
    const watching = await watch();
    for (const minutes of [1, 6, 36, 156]) await watching.attemptAt(minutes * minute);
    watching.passTo(300 * minute);
    const kept = judge(await watching.ended, watching);
    expect(outcomesOf(kept)).toEqual({ "HOOK-26": "pass", "HOOK-27": "from-previous", "HOOK-28": "five-attempts" });
    expect(kept.report.totals.fail).toBe(0);
    const attempts = kept.evidence.deliveries.filter(({ hook }) => hook === "webhook-failing");
    expect(attempts.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4, 5]);
    expect(new Set(kept.evidence.deliveries.map(({ id }) => id)).size).toBe(kept.evidence.deliveries.length);
  });

  it("tells when the next attempt is due", async () => {
    const watching = await watch();
    await watching.attemptAt(minute);
    expect(watching.outlooksBefore).toBe(0);
    expect(watching.outlooks.at(0)).toMatchObject({ kind: "awaited", attempts: 1, lastMs: firstMs });
    const about = (ms: number): unknown => expect.closeTo(firstMs + ms, 1);
    // Six attempts with the documented delays (156 minutes), each as late as allowed (959 s together).
    const latestMs = about(156 * minute + 959_000);
    const next = { kind: "awaited", attempts: 2, lastMs: about(minute), nextMs: about(6 * minute), latestMs };
    expect(watching.outlooks.at(-1)).toMatchObject(next);
    watching.interrupt();
    expect(await watching.ended).toMatchObject({ kind: "interrupted", outlook: next });
  });

  it("is over as soon as no reading of the schedule has an attempt to come, and blames a target that has stopped", async () => {
    const watching = await watch();
    await watching.attemptAt(minute);
    watching.passTo(10 * minute);
    const kept = judge(await watching.ended, watching);
    expect(outcomesOf(kept)).toMatchObject({ "HOOK-26": "pass", "HOOK-27": "fail" });
  });

  it("is rewritten into the report, and nothing is left to watch", async () => {
    const watching = await watch();
    await watching.attemptAt(minute);
    watching.passTo(10 * minute);
    saveRun(watching.folder, judge(await watching.ended, watching));
    deleteWatchFiles(watching.folder);
    const [report, evidence] = ["report.json", "evidence.json"].map((name) => join(watching.folder, name));
    expect(readReport(readFileSync(report ?? "", "utf8"), "report.json").totals.fail).toBe(1);
    expect(readEvidence(readFileSync(evidence ?? "", "utf8"), "evidence.json").deliveries).toHaveLength(
      run.evidence.deliveries.length + 1,
    );
    expect(existsSync(join(watching.folder, "watch.jsonl"))).toBe(false);
    expect(() => readState(watching.folder)).toThrow(
      new UseCaseError({ kind: "nothing to watch", folder: watching.folder, file: "watch.json" }),
    );
  });

  it("writes no key of the target", async () => {
    const watching = await watch();
    watching.passTo(minute);
    await attemptAgain(run, { authorization: "Bearer pk_correct-horse-9f2c71" });
    watching.interrupt();
    await watching.ended;
    const [delivery] = readJournal(watching.folder).flatMap((line) => ("delivery" in line ? [line.delivery] : []));
    expect(delivery?.request.headers).toContainEqual(["authorization", "Bearer [redacted key]"]);
    expect(readFileSync(join(watching.folder, "watch.jsonl"), "utf8")).not.toContain("correct-horse");
  });
});

describe("a watch that goes on with the run's own receiver", () => {
  it("misses nothing between the two", async () => {
    const live = await stoppedRun(true);
    expect(live.listening?.live).not.toBeNull();
    await attemptAgain(live);
    const { folder, state } = folderOf(live);
    const time = passingTime(state.epochMs, state.sinceMs);
    const watching = await startWatch({
      folder,
      state,
      live: live.listening?.live ?? null,
      evidence: live.evidence,
      secrets: [],
      signal: new AbortController().signal,
      onOutlook: () => {},
      timers: time,
    });
    const startMs = firstAttemptMs(live);
    for (const minutes of [1, 6, 36, 156]) {
      time.passTo(startMs + minutes * minute);
      await attemptAgain(live);
    }
    time.passTo(startMs + 300 * minute);
    const end = await watching.ended;
    expect(end.watched.unwatched).toEqual([]);
    expect(outcomesOf(judgeWatched(live, state, end.watched, cliMessages))).toEqual({
      "HOOK-26": "pass",
      "HOOK-27": "from-previous",
      "HOOK-28": "six-attempts",
    });
  });
});

describe("a watch that is taken up again", () => {
  it("goes on where it was stopped, and has lost nothing", async () => {
    const first = await watch();
    await first.attemptAt(minute);
    first.interrupt();
    await first.ended;
    const second = await watch({ folder: first.folder, atMs: 2 * minute });
    for (const minutes of [6, 36, 156]) await second.attemptAt(minutes * minute);
    second.passTo(300 * minute);
    const kept = judge(await second.ended, second);
    expect(outcomesOf(kept)).toEqual({ "HOOK-26": "pass", "HOOK-27": "from-previous", "HOOK-28": "five-attempts" });
  });

  it("blames nobody for what came while nobody listened", async () => {
    const first = await watch();
    await first.attemptAt(minute);
    first.interrupt();
    await first.ended;
    const second = await watch({ folder: first.folder, atMs: 20 * minute });
    for (const minutes of [36, 156]) await second.attemptAt(minutes * minute);
    second.passTo(300 * minute);
    const kept = judge(await second.ended, second);
    expect(kept.report.totals.fail).toBe(0);
    expect(outcomesOf(kept)).toMatchObject({ "HOOK-26": "pass", "HOOK-27": "from-previous" });
  });

  it("blames nobody for what came while the machine was asleep", async () => {
    const watching = await watch();
    await watching.attemptAt(minute);
    watching.time.sleepTo(firstMs + 20 * minute);
    for (const minutes of [36, 156]) await watching.attemptAt(minutes * minute);
    watching.passTo(300 * minute);
    expect(judge(await watching.ended, watching).report.totals.fail).toBe(0);
  });

  it("is over at once where it is taken up too late, and blames nobody", async () => {
    const { folder } = folderOf(run);
    const watching = await watch({ folder, atMs: 24 * 60 * minute });
    expect(watching.outlooksBefore).toBeNull();
    const kept = judge(await watching.ended, watching);
    expect(kept.report.totals.fail).toBe(0);
  });

  it("goes on where the process was killed in the middle of a line", async () => {
    const first = await watch();
    await first.attemptAt(minute);
    first.interrupt();
    await first.ended;
    appendFileSync(join(first.folder, "watch.jsonl"), '{"delivery":{"id":"d1');
    const second = await watch({ folder: first.folder, atMs: 2 * minute });
    await second.attemptAt(6 * minute);
    expect(second.outlooks.at(-1)).toMatchObject({ kind: "awaited", attempts: 3 });
    second.interrupt();
    await second.ended;
  });

  it("says where somebody else listens", async () => {
    const { folder, state } = folderOf(run);
    const other = createServer();
    const [host, port] = state.receiver.listen.split(":");
    await once(other.listen(Number(port), host), "listening");
    const refused = watch({ folder, atMs: minute });
    await expect(refused).rejects.toThrow(UsageError);
    await expect(refused).rejects.toThrow(`Nobody can listen on ${state.receiver.listen} again`);
    other.close();
  });
});

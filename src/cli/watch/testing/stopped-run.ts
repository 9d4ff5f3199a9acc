import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { request } from "undici";

import { deliveryJson } from "../../../evidence/delivery.ts";
import { serializeEvidence, serializeReport } from "../../../report/model/report-file.ts";
import { unselectedMusts } from "../../../run/plan/selection.ts";
import { aKey } from "../../../run/testing/values.ts";
import { suites } from "../../../suites/all.ts";
import { deliveries } from "../../../suites/deliveries/checks.ts";
import { startHosting } from "../../../suites/testing/hosting.ts";
import { type Judged, judgedRun } from "../../testing/judged-session.ts";
import { writeFirstState, type WatchState } from "../../../app/watch/watch-files.ts";
import type { WatchTimers } from "../../../app/watch/watch.ts";

/**
 * Runs against a target without a test clock, and does not wait, so only the first attempt of each delivery arrives.
 *
 * @param keepsListening leaves the receiver open
 */
export async function stoppedRun(keepsListening = false): Promise<Judged> {
  const hosting = await startHosting({ pauses: [] }, false);
  const selected = [{ ...deliveries, checks: deliveries.checks.filter(({ id }) => /^HOOK-2[678]$/.test(id)) }];
  const session = await judgedRun(
    {
      target: { ...hosting.target, keys: { key: aKey({ tier: "team" }) } },
      suites: selected,
      maxRequests: 500,
      keepsListening,
    },
    unselectedMusts(suites, selected),
  );
  hosting.close();
  return session;
}

/** Creates the folder that a stopped `run --watch` leaves. */
export function folderOf(run: Judged, targetFile?: string): { readonly folder: string; readonly state: WatchState } {
  const folder = mkdtempSync(join(tmpdir(), "conformance-watch-"));
  writeFileSync(join(folder, "report.json"), serializeReport(run.report));
  writeFileSync(join(folder, "evidence.json"), serializeEvidence(run.evidence));
  return { folder, state: writeFirstState(folder, run.listening, targetFile) };
}

/** A simulated clock that a test advances. */
export interface PassingTime extends WatchTimers {
  /** Advances the clock to this time after the start of the run, and calls the timers that become due. */
  readonly passTo: (ms: number) => void;
  /** Advances the clock without calling timers, as if the machine slept. */
  readonly sleepTo: (ms: number) => void;
}

export function passingTime(epochMs: number, fromMs: number): PassingTime {
  let nowMs = epochMs + fromMs;
  const calls = new Map<() => void, { readonly everyMs: number; dueMs: number }>();
  return {
    now: () => nowMs,
    every: (everyMs, call) => {
      calls.set(call, { everyMs, dueMs: nowMs + everyMs });
      return () => void calls.delete(call);
    },
    passTo: (ms) => {
      const untilMs = epochMs + ms;
      for (let dueMs = nextOf(calls); dueMs <= untilMs; dueMs = nextOf(calls)) {
        nowMs = dueMs;
        for (const [call, each] of calls)
          if (each.dueMs <= nowMs) {
            each.dueMs += each.everyMs;
            call();
          }
      }
      nowMs = untilMs;
    },
    sleepTo: (ms) => {
      nowMs = epochMs + ms;
      for (const each of calls.values()) each.dueMs = nowMs + each.everyMs;
    },
  };
}

const nextOf = (calls: ReadonlyMap<unknown, { readonly dueMs: number }>): number =>
  Math.min(Number.POSITIVE_INFINITY, ...calls.values().map(({ dueMs }) => dueMs));

/** When the failing delivery was first attempted, in milliseconds after the start of the run. */
export const firstAttemptMs = ({ evidence }: Judged): number =>
  evidence.deliveries.find(({ hook }) => hook === "webhook-failing")?.receivedMs ?? Number.NaN;

/** Sends the next attempt of the delivery that always fails. Returns the receiver's status. */
export async function attemptAgain(run: Judged, headers: Readonly<Record<string, string>> = {}): Promise<number> {
  const hook = run.listening?.receiver.hooks.find(({ name }) => name === "webhook-failing");
  const first = run.evidence.deliveries.find((each) => each.hook === hook?.name);
  if (hook === undefined || first === undefined) throw new Error("the run had no delivery that always fails");
  const url = `http://${run.listening?.receiver.listen}/${hook.token}/${hook.name}`;
  const answer = await request(url, { method: "POST", headers, body: JSON.stringify(deliveryJson(first)) });
  await answer.body.dump();
  return answer.statusCode;
}

import { describe, expect, it } from "vitest";

import { clockOverHttp, ControlCallFailed } from "../../target/control-calls.ts";
import { TargetDied } from "../../load/target-watch.ts";
import { plainNetwork } from "../../base/network/network.ts";
import { withRepeatedAdvance } from "./trial-clock.ts";

/** Simulates a test clock whose first advances fail, and timers whose time passes only during sleeps. */
function simulate(failures: number, error: Error) {
  let [nowMs, calls] = [0, 0];
  const clock = {
    advance: async () => {
      calls += 1;
      await Promise.resolve();
      if (calls <= failures) throw error;
    },
    settleMs: 0,
    agentsFollow: false,
  };
  const timers = {
    now: () => nowMs,
    sleep: async (ms: number) => {
      await Promise.resolve();
      nowMs += ms;
    },
  };
  return { advance: () => withRepeatedAdvance(clock, timers).advance(1000), calls: () => calls };
}

const temporary = new ControlCallFailed("answered 502", { isTemporary: true });

describe("an advance between two trials", () => {
  it("is sent again while a gateway responds in place of the target", async () => {
    const { advance, calls } = simulate(5, temporary);
    await advance();
    expect(calls()).toBe(6);
  });

  it.each([
    ["the target stays away for 8 s", temporary, TargetDied, 9],
    ["the target refuses it", new ControlCallFailed("answered 403", { isTemporary: false }), TargetDied, 1],
    [
      "this machine has no files left",
      new ControlCallFailed("", { isTemporary: true, cause: Object.assign(new Error("no files"), { code: "EMFILE" }) }),
      ControlCallFailed,
      1,
    ],
  ])("fails if %s", async (_, error, kind, sent) => {
    const { advance, calls } = simulate(Number.POSITIVE_INFINITY, error);
    await expect(advance()).rejects.toBeInstanceOf(kind);
    expect(calls()).toBe(sent);
  });

  it("counts a broken connection as temporary", async () => {
    const clock = clockOverHttp({ advance: { url: "http://127.0.0.1:1/clock", method: "POST" } }, plainNetwork);
    await expect(clock.advance(1000)).rejects.toMatchObject({ name: "ControlCallFailed", isTemporary: true });
  });
});

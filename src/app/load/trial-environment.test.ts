import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { describe, expect, it, onTestFinished } from "vitest";

import { startEmbedded } from "../../reference/embedded/embedded-server.ts";
import { announceRun } from "../../run/disturbances/other-runs.ts";
import { mainKey } from "../../run/plan/needs.ts";
import { watchForDisturbances } from "./trial-environment.ts";

/** Returns what disturbs a simulated trial. With `otherClient`, another client uses the same key during the trial. */
async function findWith(otherClient: boolean, observed: { readonly wasAway: boolean; readonly isBroken: boolean }) {
  const { target, close } = await startEmbedded();
  onTestFinished(close);
  const key = mainKey(target);
  if (key === null) throw new Error("the server has no key");
  const announced = announceRun(target, mkdtempSync(join(tmpdir(), "trial-disturbances-")));
  const { clock } = target;
  const watch = watchForDisturbances({ target, keys: [key], announced, clock, inStep: null, mayLag: false });
  const list = (): void =>
    void fetch(`${target.baseUrl}/agents`, { headers: { authorization: `Bearer ${key.key}` } }).then(
      (response) => response.arrayBuffer(),
      () => {},
    );
  const timer = setInterval(() => otherClient && list(), 100);
  onTestFinished(() => {
    clearInterval(timer);
    watch.close();
    announced.close();
  });
  return watch.find({ wasAway: observed.wasAway, limitsBroken: () => observed.isBroken });
}

describe("a trial whose limits seem broken", () => {
  it("is disturbed by another client of its key", async () => {
    const disturbance = expect.stringMatching(/^somebody else used `team` during the run/);
    expect(await findWith(true, { wasAway: false, isBroken: true })).toEqual({ disturbance });
  });

  it("is not disturbed if there is no other client", async () => {
    expect(await findWith(false, { wasAway: false, isBroken: true })).toEqual({});
  });
});

describe("another client of a key is not looked for", () => {
  it.each([
    ["if no limit seems broken", { wasAway: false, isBroken: false }],
    ["if the target was away", { wasAway: true, isBroken: true }],
  ])("%s", async (_, observed) => {
    expect(await findWith(true, observed)).toEqual({});
  });
});

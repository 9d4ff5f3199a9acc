import { describe, expect, it } from "vitest";

import { hasPython, runsOf, testSeed } from "../../base/testing/test-scope.ts";
import { startFormBServer } from "../../run/testing/form-b-server.ts";
import { falseAlarmsUnder, type Noise, noises, startLegalServer } from "./noisy-run.ts";

const rows = Array.from({ length: runsOf({ quick: 1, full: 25 }) }, (_, at) => {
  return { seed: testSeed * 1000 + at, noise: noises[at % noises.length] as Noise };
});
/** The noise makes runs slow, so they need a long time limit. */
const options = { timeout: 300_000 };

describe.concurrent("sound servers, through noise", () => {
  it.each(rows)(
    "of legal variants raise no false alarm, seed $seed, in $noise.name",
    options,
    async ({ noise, seed }) => {
      expect(await falseAlarmsUnder(noise, await startLegalServer(seed), seed)).toEqual([]);
    },
  );

  it.skipIf(!hasPython()).each(rows)(
    "in another language raise no alarm, seed $seed, in $noise.name",
    options,
    async ({ noise, seed }) => {
      const { target, close } = await startFormBServer(null);
      expect(await falseAlarmsUnder(noise, { target, notes: [], close }, seed)).toEqual([]);
    },
  );
});

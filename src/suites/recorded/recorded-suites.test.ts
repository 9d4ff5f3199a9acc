import { describe, expect, it } from "vitest";

import { probesOf } from "../../run/judge/check.ts";
import { suites } from "../all.ts";
import { fullRecordingContents, excludedChecks, recordedSuites } from "./recorded-suites.ts";

const none = { times: false, eventTimes: false, keys: false, clock: false };
const checksOf = (facts: typeof none) => recordedSuites(facts).flatMap(({ checks }) => checks);
const judgingOf = (facts: typeof none) =>
  checksOf(facts)
    .filter(({ on }) => Object.keys(probesOf(on)).length > 0)
    .map(({ id }) => id);

describe("the suites of a recording", () => {
  it("have every check of a server once, and those of recordings alone", () => {
    const own = suites.flatMap(({ checks }) => checks.flatMap(({ id, widens }) => (widens === undefined ? [id] : [])));
    const ids = checksOf(fullRecordingContents).map(({ id }) => id);
    expect(ids.filter((id) => !own.includes(id))).toEqual(["LIM-1/recorded", "LIM-3/recorded"]);
    expect(own.filter((id) => !ids.includes(id))).toEqual([]);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("use only probes that read what was recorded", () => {
    const probes = checksOf(fullRecordingContents).flatMap(({ on }) => Object.values(probesOf(on)));
    expect(probes.filter(({ stage, needs }) => stage !== "review" || needs.length > 0)).toEqual([]);
  });

  it("leave out only checks that exist, and those of missing facts", () => {
    const ids = suites.flatMap(({ checks }) => checks.map(({ id }) => id));
    expect(excludedChecks.filter((id) => !ids.includes(id))).toEqual([]);
    const lost = judgingOf(fullRecordingContents).filter((id) => !judgingOf(none).includes(id));
    expect(lost.toSorted()).toEqual(["HDR-14", "HDR-15", "LIM-1/recorded", "LIM-3/recorded", "SSE-28", "USE-10"]);
  });
});

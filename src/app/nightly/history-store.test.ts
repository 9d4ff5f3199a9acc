import { mkdirSync, mkdtempSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import type { Night } from "../../report/history/night.ts";
import { newNightId, nightsFolder, pruneHistory, readHistory, reportFolder, writeNight } from "./history-store.ts";
import { noChanges, simulateNights } from "../../report/history/testing/simulate-nights.ts";

const newFolder = (): string => mkdtempSync(join(tmpdir(), "history-"));
const some = (count: number): Night[] => simulateNights(3, { ...noChanges, nights: count }).map(({ night }) => night);

function folderWith(nights: readonly Night[]): string {
  const folder = newFolder();
  for (const night of nights) writeNight(folder, night);
  return folder;
}

describe("a history on disk", () => {
  it("gives its nights back as they were, oldest first", () => {
    const nights = some(5);
    expect(readHistory(folderWith(nights.toReversed()))).toEqual({ nights, damaged: [] });
  });

  it("is empty where there is none", () => {
    expect(readHistory(join(newFolder(), "nowhere"))).toEqual({ nights: [], damaged: [] });
  });

  it.each([
    { name: "half-written", text: '{"format":"agent-hosting-conformance/night/1","id":', says: /not JSON/ },
    { name: "empty", text: "", says: /not JSON/ },
    { name: "of another version", text: '{"format":"agent-hosting-conformance/night/9"}', says: /^format:/ },
    { name: "something else", text: "[1]", says: /^the file:/ },
  ])("names an entry that is $name, and leaves it out", ({ text, says }) => {
    const folder = folderWith(some(2));
    writeFileSync(join(nightsFolder(folder), "2030-01-09T02-00-00-000Z-00000000.json"), text);
    const { nights, damaged } = readHistory(folder);
    expect([nights.length, damaged.length]).toEqual([2, 1]);
    expect(damaged[0]?.problem).toMatch(says);
  });

  it("leaves out and names copies, and entries written with a wrong clock", () => {
    const nights = some(3);
    const folder = folderWith(nights);
    const [first, , last] = nights;
    if (first === undefined || last === undefined) throw new Error("no nights were simulated");
    const copy = "2030-01-09T02-00-00-000Z-00000000.json";
    writeFileSync(join(nightsFolder(folder), copy), readFileSync(join(nightsFolder(folder), `${first.id}.json`)));
    const { nights: read, damaged } = readHistory(folder, Date.parse(last.started) - 2 * 86_400_000);
    expect(read).toEqual(nights.slice(0, 2));
    expect(damaged.map(({ problem }) => problem).toSorted()).toEqual([
      expect.stringMatching(/^it is a copy/),
      expect.stringMatching(/^it starts in the future/),
    ]);
  });

  it("does not take a folder, a stranger's file, or a part of a write for a night", () => {
    const folder = folderWith(some(1));
    mkdirSync(join(nightsFolder(folder), "2030-01-09T02-00-00-000Z-00000000.json"));
    writeFileSync(join(nightsFolder(folder), "notes.json"), "{}");
    writeFileSync(join(nightsFolder(folder), "2030-01-10T02-00-00-000Z-00000000.json.new"), "{");
    const { nights, damaged } = readHistory(folder);
    expect([nights.length, damaged.length]).toEqual([1, 1]);
  });

  it("keeps the newest nights and fewer reports, and removes what a killed job left a day ago", () => {
    const nights = some(6);
    const folder = folderWith(nights);
    for (const { id } of nights) mkdirSync(reportFolder(folder, id), { recursive: true });
    for (const age of ["old", "new"]) {
      const part = join(nightsFolder(folder), `${age}.json.new`);
      writeFileSync(part, "{");
      if (age === "old") utimesSync(part, 0, 0);
    }
    pruneHistory(folder, { nights: 4, reports: 2 });
    expect(readHistory(folder).nights.map(({ id }) => id)).toEqual(nights.slice(2).map(({ id }) => id));
    expect(readdirSync(join(folder, "reports"))).toEqual(nights.slice(4).map(({ id }) => id));
    expect(readdirSync(nightsFolder(folder)).filter((name) => name.endsWith(".new"))).toEqual(["new.json.new"]);
  });

  it("counts no reports of nights that were not kept, and removes them after a day", () => {
    const nights = some(3);
    const folder = folderWith(nights);
    const left = ["2030-02-01", "2030-02-02"].map((day) => `${day}T02-00-00-000Z-00000000`);
    for (const id of [...nights.map((night) => night.id), ...left])
      mkdirSync(reportFolder(folder, id), { recursive: true });
    utimesSync(reportFolder(folder, left[0] ?? ""), 0, 0);
    pruneHistory(folder, { nights: 3, reports: 2 });
    expect(readdirSync(join(folder, "reports"))).toEqual([...nights.slice(1).map(({ id }) => id), left[1]]);
  });

  it("has two names for two jobs that start together", () => {
    const now = new Date();
    expect(newNightId(now)).not.toBe(newNightId(now));
    expect(newNightId(now).slice(0, 24)).toBe(newNightId(now).slice(0, 24));
  });
});

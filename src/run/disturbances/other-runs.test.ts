import { mkdtempSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { describe, expect, it, onTestFinished } from "vitest";

import { aKey } from "../testing/values.ts";
import { announceRun } from "./other-runs.ts";

const newFolder = (): string => mkdtempSync(join(tmpdir(), "other-runs-"));

function announce(folder: string, key: string, baseUrl = "http://127.0.0.1:8787/v1") {
  const run = announceRun({ baseUrl, keys: { main: aKey({ name: "main", key }) } }, folder);
  onTestFinished(run.close);
  return run;
}

describe("two runs on one machine", () => {
  it("see each other if they share a key of a target, also after one of them has ended", () => {
    const folder = newFolder();
    const first = announce(folder, "pk_one");
    expect(first.shared()).toBeNull();
    const second = announce(folder, "pk_one", "http://localhost:8787/v1");
    expect([first.shared()?.keys, second.shared()?.keys]).toEqual([["main"], ["main"]]);
    second.close();
    expect(first.shared()?.keys).toEqual(["main"]);
  });

  it.each([
    ["keys", "pk_other", "http://127.0.0.1:8787/v1"],
    ["targets", "pk_one", "http://127.0.0.1:8788/v1"],
  ])("do not mind each other if they use different %s", (_, key, baseUrl) => {
    const folder = newFolder();
    const first = announce(folder, "pk_one");
    announce(folder, key, baseUrl);
    expect(first.shared()).toBeNull();
  });

  it.each<[string, object]>([
    ["that has ended", { startedMs: 1, endedMs: 2 }],
    ["that was killed", { startedMs: 1, pid: 2 ** 22 + 1 }],
  ])("do not mind a run %s, nor a file of somebody else", async (_, changes) => {
    const folder = newFolder();
    announce(folder, "pk_one");
    for (const name of readdirSync(folder)) {
      const path = join(folder, name);
      const record = JSON.parse(readFileSync(path, "utf8")) as object;
      writeFileSync(path, JSON.stringify({ ...record, ...changes }));
      const aSecondAgo = Date.now() / 1000 - 1;
      utimesSync(path, aSecondAgo, aSecondAgo);
    }
    writeFileSync(join(folder, "notes.txt"), "not a record");
    expect(announce(folder, "pk_one").shared()).toBeNull();
  });

  it("write no key into the folder they share, and work without one", () => {
    const folder = newFolder();
    announce(folder, "pk_secret");
    const written = readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8"));
    expect(written.join()).not.toContain("pk_secret");
    expect(announce(join(folder, "notes.txt", "none"), "pk_one").shared()).toBeNull();
  });
});

import { appendFileSync, mkdtempSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { WatchedDeliveries } from "../../suites/deliveries/retry-evidence.ts";
import { sampleDelivery } from "../../report/testing/sample.ts";
import {
  createWatchAccumulator,
  type JournalLine,
  openJournal,
  readJournal,
  readState,
  writeFirstState,
} from "./watch-files.ts";

const newFolder = (): string => mkdtempSync(join(tmpdir(), "conformance-journal-"));

function write(folder: string, ...lines: readonly JournalLine[]): void {
  const journal = openJournal(folder);
  for (const line of lines) journal.add(line);
  journal.close();
}

const delivery = sampleDelivery("d1", { receivedMs: 1200, reply: { kind: "silent", leftMs: null } });
const left = { ...delivery, reply: { kind: "silent", leftMs: 4200 } } as const;

describe("a journal", () => {
  it("is read as it was written, by one process after another", () => {
    const folder = newFolder();
    expect(readJournal(folder)).toEqual([]);
    write(folder, { began: 1000 }, { delivery });
    write(folder, { began: 9000 }, { listening: 14_000 });
    expect(readJournal(folder)).toEqual([{ began: 1000 }, { delivery }, { began: 9000 }, { listening: 14_000 }]);
  });

  it("is its owner's alone, also where an earlier one was not", () => {
    const folder = newFolder();
    writeFileSync(join(folder, "watch.jsonl"), "", { mode: 0o644 });
    for (const each of [newFolder(), folder]) {
      write(each, { began: 1000 });
      expect(statSync(join(each, "watch.jsonl")).mode & 0o777).toBe(0o600);
    }
  });

  it.each(['{"delivery":{"id":"d2"', '{"listening":', "\u0000\u0000\u0000", '{"else":1}'])(
    "skips what cannot be read (%j), and not what comes after it",
    (torn) => {
      const folder = newFolder();
      write(folder, { began: 1000 });
      appendFileSync(join(folder, "watch.jsonl"), torn);
      write(folder, { began: 2000 });
      expect(readJournal(folder)).toEqual([{ began: 1000 }, { began: 2000 }]);
    },
  );
});

describe("what a journal tells", () => {
  const told = (lines: readonly JournalLine[], untilMs: number, isListening = true): WatchedDeliveries => {
    const telling = createWatchAccumulator(1000, []);
    for (const line of lines) telling.add(line);
    return telling.upTo(untilMs, isListening);
  };

  it("is the last word on each delivery, and those of the run", () => {
    const other = sampleDelivery("d0", { receivedMs: 10 });
    const telling = createWatchAccumulator(1000, [other]);
    for (const line of [{ began: 1100 }, { delivery }, { delivery: left }]) telling.add(line);
    expect(telling.upTo(5000, true).deliveries).toEqual([other, left]);
  });

  it.each<[string, JournalLine[], number, boolean, [number, number][]]>([
    ["before it began", [{ began: 1100 }], 2000, true, [[1000, 1100]]],
    [
      "after the last sign",
      [{ began: 1000 }, { listening: 6000 }],
      9000,
      false,
      [
        [1000, 1000],
        [6000, 9000],
      ],
    ],
    [
      "between two processes",
      [{ began: 1000 }, { listening: 6000 }, { began: 90_000 }],
      90_000,
      true,
      [
        [1000, 1000],
        [6000, 90_000],
      ],
    ],
    [
      "while the machine slept",
      [{ began: 1000 }, { listening: 6000 }, { listening: 80_000 }],
      81_000,
      true,
      [
        [1000, 1000],
        [6000, 80_000],
      ],
    ],
    [
      "while it sleeps",
      [{ began: 1000 }],
      80_000,
      true,
      [
        [1000, 1000],
        [1000, 80_000],
      ],
    ],
  ])("is that nobody listened %s", (_when, lines, untilMs, isListening, spans) => {
    expect(told(lines, untilMs, isListening).unwatched).toEqual(spans.map(([fromMs, toMs]) => ({ fromMs, toMs })));
  });
});

const hook = { name: "webhook-both", token: "t", secret: "conformance-1", replies: [], arrivals: 0, isReleased: false };
const laterHook = { ...hook, token: "u", otherSecrets: ["conformance-2"], takesReads: true, since: "1.1" };
const receiver = { listen: "127.0.0.1:4711", publicUrl: null, hooks: [hook, laterHook], deliveries: 0 };

describe("what it takes to go on watching", () => {
  it("is its owner's alone, for the webhooks' secrets are in it", () => {
    const folder = mkdtempSync(join(tmpdir(), "conformance-state-"));
    // Simulates a killed process, which leaves this file behind.
    writeFileSync(join(folder, "watch.json.new"), "", { mode: 0o644 });
    const state = writeFirstState(folder, { receiver, live: null, epochMs: 1, untilMs: 2 }, undefined);
    expect(readState(folder)).toEqual(state);
    expect(statSync(join(folder, "watch.json")).mode & 0o777).toBe(0o600);
  });
});

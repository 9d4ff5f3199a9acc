import { describe, expect, it } from "vitest";

import { type Progress, type ProgressStream, startProgress } from "./progress.ts";

interface Shown {
  readonly progress: Progress;
  readonly text: () => string;
  /** Returns the lines that a terminal would show after the output so far. */
  readonly screen: () => string[];
  readonly pass: (ms: number) => void;
  readonly ticking: () => boolean;
}

function show({ quiet = false, ...stream }: Partial<ProgressStream> & { readonly quiet?: boolean }): Shown {
  let [text, nowMs] = ["", 0];
  let tick: (() => void) | null = null;
  const write = (piece: string): string => (text += piece);
  const progress = startProgress(
    { write, columns: 60, ...stream },
    {
      quiet,
      now: () => nowMs,
      every: (_ms, callback) => {
        tick = callback;
        return () => (tick = null);
      },
    },
  );
  return {
    progress,
    text: () => text,
    screen: () => text.split("\n").map((line) => line.split("\r\u001b[2K").at(-1) ?? ""),
    pass: (ms) => {
      nowMs += ms;
      tick?.();
    },
    ticking: () => tick !== null,
  };
}

const run = ["0.1.0", "Acme", "http://127.0.0.1:8080/v1", "Acme"];
const headline = "Agent Hosting conformance · 0.1.0 · Acme · http://127.0.0.1:8080/v1";

describe("progress on a terminal", () => {
  it("is one live line under the first, and leaves nothing behind", () => {
    const { progress, screen } = show({ isTTY: true });
    progress.started(...run);
    progress.planned(3);
    progress.probeDone("an agent is invoked");
    expect(screen()).toEqual([headline, "", "1/3 probes · an agent is invoked"]);
    progress.done();
    expect(screen()).toEqual([headline, "", ""]);
  });

  it("counts a wait down, and stops its timer at the end", () => {
    const { progress, screen, pass, ticking } = show({ isTTY: true });
    progress.planned(3);
    progress.waiting(3000, "the minute is used up");
    pass(1000);
    expect(screen()).toEqual(["0/3 probes · waiting 2 seconds: the minute is used up"]);
    pass(2000);
    expect(screen()).toEqual(["0/3 probes"]);
    expect(ticking()).toBe(false);
  });

  it("never writes after its end", () => {
    const { progress, text, ticking } = show({ isTTY: true });
    progress.waiting(60_000, "the hour");
    progress.done();
    const before = text();
    progress.done();
    progress.probeDone("late");
    expect(text()).toBe(before);
    expect(ticking()).toBe(false);
  });

  it("fits the width, and makes foreign text harmless", () => {
    const { progress, screen } = show({ isTTY: true, columns: 30 });
    progress.probeDone(`\u001b[2J${"x".repeat(90)}\n`);
    expect(screen()[0]).toHaveLength(29);
    expect(screen()[0]).toContain(String.raw`\x1b[2J`);
  });
});

describe("progress elsewhere", () => {
  it("tells of long waits alone, once for probes that wait side by side", () => {
    const { progress, text } = show({});
    progress.started(...run);
    progress.planned(3);
    progress.waiting(1900, "a moment");
    progress.waiting(41_000, "the minute is used up");
    progress.waiting(41_200, "the minute is used up");
    progress.waiting(200_000, "the hour is used up");
    progress.probeDone("an agent is invoked");
    progress.done();
    expect(text()).toBe(
      [headline, "", "waiting 41 seconds: the minute is used up", "waiting 3 min 20 s: the hour is used up", ""].join(
        "\n",
      ),
    );
  });

  it.each([true, false])("is nothing when quiet (on a terminal: %s)", (isTTY) => {
    const { progress, text } = show({ quiet: true, isTTY });
    progress.started(...run);
    progress.planned(1);
    progress.waiting(90_000, "the hour");
    progress.probeDone("an agent is invoked");
    progress.done();
    expect(text()).toBe("");
  });
});

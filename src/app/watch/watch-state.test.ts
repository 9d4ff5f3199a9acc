import { mkdtempSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { describe, expect, it } from "vitest";

import { writeFirstState, readState } from "./watch-files.ts";

const hook = { name: "webhook-both", token: "t", secret: "conformance-1", replies: [], arrivals: 0, isReleased: false };
const receiver = { listen: "127.0.0.1:4711", publicUrl: null, hooks: [hook], deliveries: 0 };

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

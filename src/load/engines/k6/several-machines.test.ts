import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, describe, expect, it } from "vitest";

import { minuteLimit } from "../../../../scenarios/minute-limit.ts";
import { messageOf } from "../../../base/errors.ts";
import { isFull } from "../../../base/testing/test-scope.ts";
import { publishedTiers } from "../../../spec/tiers.ts";
import { suiteFaults } from "../../../reference/catalogue.ts";
import type { Patch } from "../../../reference/patch.ts";
import { type Reference, startReference } from "../../../reference/reference.ts";
import { acceleratedClock } from "../../../reference/clock.ts";
import type { EngineOptions } from "../../engine.ts";
import type { LoadEvidence } from "../../../evidence/load-evidence.ts";
import { judgeLoad } from "../../judge/judge.ts";
import { mergeEvidence } from "../../merge.ts";
import { findK6 } from "./binary.ts";
import { commandsOf, scriptOf } from "./command.ts";
import { evidenceOfLog } from "./evidence.ts";
import { startK6 } from "./process.ts";
import { defaultEngineOptions } from "../../testing/engine-options.ts";

const lacking = await findK6().then(
  () => null,
  (error: unknown) => messageOf(error),
);
if (lacking !== null) process.stderr.write(`Skipping the test of clocks that are apart. ${lacking}\n`);

const speed = 40;
/** Real milliseconds by which each clock is ahead of the one before: 200 ms of the target's clock. */
const stepMs = 200 / speed;
const folder = mkdtempSync(join(tmpdir(), "clocks-apart-"));
afterAll(() => rmSync(folder, { recursive: true }));

/**
 * Writes a script for a machine whose clock is `aheadMs` ahead. The clock is set before the rest of the script runs.
 */
function scriptWithClock(aheadMs: number): string {
  const clock = join(folder, `clock${aheadMs}.ts`);
  writeFileSync(clock, `const now = Date.now;\nDate.now = () => now() + ${aheadMs};\n`);
  const script = join(folder, `script${aheadMs}.ts`);
  const from = scriptOf(minuteLimit.name);
  writeFileSync(script, `import "${clock}";\nexport * from "${from}";\nexport { default } from "${from}";\n`);
  return script;
}

/**
 * Sends the load with one process for each clock, and merges the evidence of their logs. `clocks` has the milliseconds
 * by which each is ahead.
 */
async function sent(patches: readonly Patch[], clocks: readonly number[]): Promise<LoadEvidence> {
  const { path, version } = await findK6();
  const reference = await startReference({ patches, clock: acceleratedClock(speed) });
  try {
    const parts = { ...partsFor(reference), segments: clocks.length };
    const commands = commandsOf(scriptOf(minuteLimit.name), parts, Date.now() + 1500 * clocks.length, null);
    const logs = await Promise.all(
      commands.map(async ({ args, env }, at) => {
        const lines: string[] = [];
        const own = [...args.slice(0, -1), scriptWithClock(clocks[at] ?? 0)];
        await startK6(path, { args: own, env }, (line) => lines.push(line) > 0).ended;
        return { ...evidenceOfLog(lines.join("\n"), [minuteLimit], version), isFresh: true };
      }),
    );
    return mergeEvidence(logs, Math.max(...clocks) - Math.min(...clocks));
  } finally {
    await reference.close();
  }
}

const partsFor = (reference: Reference): EngineOptions => ({
  ...defaultEngineOptions(),
  baseUrl: reference.baseUrl,
  keys: { main: reference.issueKey("free").key, second: null },
  tier: "free",
  limits: publishedTiers.free,
  isFresh: true,
  agents: { answering: reference.agents.answering, streaming: null, slow: null, slowStreaming: null, failing: null },
  speed,
});

const redOf = (evidence: LoadEvidence): string[] => [
  ...new Set(
    judgeLoad(evidence, minuteLimit).flatMap(({ kind, clause }) =>
      kind === "breach" && clause !== null ? [clause] : [],
    ),
  ),
];

const rows: [name: string, red: readonly string[]][] = [
  ["one-too-few-a-minute", ["LIM-2"]],
  ["no-minute-limit", ["LIM-1"]],
  ["no fault", []],
];

describe.skipIf(lacking !== null).concurrent("three machines whose clocks are 200 ms apart", () => {
  it.each(isFull ? rows : rows.slice(0, 1))("give the verdict of one, of %s", async (name, red) => {
    const patches = suiteFaults.filter((fault) => fault.name === name);
    const one = isFull ? redOf(await sent(patches, [0])) : null;
    const three = redOf(await sent(patches, [-stepMs, 0, stepMs]));

    expect(one ?? three).toEqual(three);
    expect(three).toEqual(expect.arrayContaining([...red]));
  });
});

// Runs `conformance run` against hostile targets: `node tools/hostile.ts [PART OF A NAME] [AT ONCE]`. AT ONCE: maximum
// number of concurrent runs.
import { availableParallelism } from "node:os";

import { hostileModes } from "../src/cli/testing/hostile/modes.ts";
import { problemKinds, type TriedMode, tryAll } from "../src/cli/testing/hostile/try-all.ts";

const [part = "", atOnce = "12"] = process.argv.slice(2);
const chosen = Object.fromEntries(Object.entries(hostileModes).filter(([name]) => name.includes(part)));
const started = performance.now();
const all: TriedMode[] = [];

function printResult(mode: TriedMode): void {
  const { name, tried, problems } = mode;
  all.push(mode);
  const figures = `${tried.seconds.toFixed(1).padStart(5)} s ${String(tried.megabytes).padStart(4)} MB  ${tried.verdict ?? "no verdict"}`;
  process.stdout.write(`${problems.length === 0 ? "ok    " : "FAILED"} ${figures.padEnd(34)} ${name}\n`);
  for (const { kind, text } of problems) process.stdout.write(`         ${kind}: ${text}\n`);
  if (problems.length > 0) process.stdout.write(`         it says: ${tried.last.slice(0, 300)}\n`);
}

await tryAll(chosen, { atOnce: Number(atOnce), cores: availableParallelism(), onTried: printResult });

const most = (figure: (mode: TriedMode) => number): string => Math.max(0, ...all.map(figure)).toFixed(0);
const failed = all.filter(({ problems }) => problems.length > 0).length;
const byKind = problemKinds.map(
  (kind) => `${kind} ${all.filter(({ problems }) => problems.some((each) => each.kind === kind)).length}`,
);
process.stdout.write(
  `${all.length} hostile targets, ${failed} failed (${byKind.join(", ")}); at most ${most(({ tried }) => tried.seconds)} s and ` +
    `${most(({ tried }) => tried.megabytes)} MB each, ${((performance.now() - started) / 60_000).toFixed(1)} min in all\n`,
);
process.exitCode = failed === 0 && all.length > 0 ? 0 : 1;

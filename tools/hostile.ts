// `node tools/hostile.ts [PART OF A NAME] [AT ONCE]`: runs the command against every hostile target, prints what became of each, and what it took.
import { hostileModes } from "../src/cli/testing/hostile/modes.ts";
import { problemsOf, tryMode } from "../src/cli/testing/hostile/try-mode.ts";

const [part = "", atOnce = "2"] = process.argv.slice(2);
const chosen = Object.entries(hostileModes).filter(([name]) => name.includes(part));
const left = chosen[Symbol.iterator]();
const started = performance.now();
let [failed, mostMegabytes, mostSeconds] = [0, 0, 0];

async function work(): Promise<void> {
  for (const [name, harm] of left) {
    const tried = await tryMode(harm, 90);
    const problems = problemsOf(tried);
    if (problems.length > 0) failed += 1;
    mostMegabytes = Math.max(mostMegabytes, tried.megabytes);
    mostSeconds = Math.max(mostSeconds, tried.seconds);
    const figures = `${tried.seconds.toFixed(1).padStart(5)} s ${String(tried.megabytes).padStart(4)} MB  ${tried.verdict ?? "no verdict"}`;
    process.stdout.write(`${problems.length === 0 ? "ok    " : "FAILED"} ${figures.padEnd(34)} ${name}\n`);
    for (const problem of problems) process.stdout.write(`         ${problem}\n`);
    if (problems.length > 0) process.stdout.write(`         it says: ${tried.last.slice(0, 300)}\n`);
  }
}

await Promise.all(Array.from({ length: Number(atOnce) }, work));
const minutes = ((performance.now() - started) / 60_000).toFixed(1);
process.stdout.write(
  `${chosen.length} hostile targets, ${failed} failed; at most ${mostSeconds.toFixed(0)} s and ${mostMegabytes} MB each, ${minutes} min in all\n`,
);
process.exitCode = failed === 0 ? 0 : 1;

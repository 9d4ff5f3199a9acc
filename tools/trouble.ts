// Runs `conformance` and injects errors, e.g. failing writes. `list` prints the kinds of errors. `--write`
// updates docs/trust.md. Usage: `node tools/trouble.ts [TRIALS|60s|list] [AT ONCE] [FIRST SEED] [KIND…] [--write]`.
import { readFileSync, writeFileSync } from "node:fs";

import { tableOf, type Tried, troubles, tryAll } from "../src/cli/testing/trouble/try-all.ts";

const isWritten = process.argv.includes("--write");
const [trials = "200", atOnce = "2", first = "1", ...named] = process.argv
  .slice(2)
  .filter((each) => each !== "--write");
const kinds = named.length === 0 ? troubles : troubles.filter(({ name }) => named.some((each) => name.includes(each)));
const tried: Tried[] = [];

function printTrial(result: Tried): void {
  const { trial, trouble, end, seconds, problems } = result;
  tried.push(result);
  const fault = trial.fault === null ? "" : `, fault ${trial.fault}`;
  const sign = problems.length === 0 ? "ok    " : "FAILED";
  process.stdout.write(
    `${sign} ${seconds.toFixed(1).padStart(5)} s  ${end.padEnd(7)} seed ${trial.seed}  ${trouble.name} at ${trial.atSeconds.toFixed(1)} s, ${trial.command}${fault}\n`,
  );
  for (const { kind, text } of problems) process.stdout.write(`         ${kind}: ${text}\n`);
  if (problems.length > 0)
    process.stdout.write(`         again: node tools/trouble.ts 1 1 ${trial.seed} '${trouble.name}'\n`);
}

function writeTable(table: string): void {
  const page = new URL("../docs/trust.md", import.meta.url);
  const marked = /(<!-- trouble around the harness -->\n)[^]*?(\n?<!-- end -->)/;
  writeFileSync(
    page,
    readFileSync(page, "utf8").replace(marked, (_, start: string) => `${start}\n${table}\n\n<!-- end -->`),
  );
}

const seconds = /^(\d+)s$/.exec(trials)?.[1];
if (kinds.length === 0) {
  process.stderr.write(
    `No kind of trouble has ${named.join(" or ")} in its name: see \`node tools/trouble.ts list\`.\n`,
  );
  process.exitCode = 2;
} else if (trials === "list") {
  for (const { name, summary } of troubles) process.stdout.write(`${name.padEnd(36)} ${summary}\n`);
} else {
  await tryAll({
    firstSeed: Number(first),
    trials: seconds === undefined ? Number(trials) : Number.POSITIVE_INFINITY,
    seconds: seconds === undefined ? Number.POSITIVE_INFINITY : Number(seconds),
    kinds,
    atOnce: Number(atOnce),
    onTried: printTrial,
  });
  process.stdout.write(`\n${tableOf(tried)}\n`);
  if (isWritten) writeTable(tableOf(tried));
  const failed = tried.filter(({ problems }) => problems.length > 0).length;
  process.stdout.write(`${tried.length} trials, ${failed} failed\n`);
  process.exitCode = failed === 0 && tried.length > 0 ? 0 : 1;
}

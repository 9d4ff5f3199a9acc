import { globOf } from "../../base/glob.ts";
import {
  complaintsOf,
  enginesHere,
  runLoadFaults,
  type LoadFaultResult,
  trialsOf,
  withoutFaults,
} from "../../selftest/load/run-plans.ts";
import { loadFaultPlans } from "../../selftest/load/plans.ts";
import { UsageError } from "../../base/usage-error.ts";
import { exitCodes } from "../exit-codes.ts";
import { openEmbeddedEnvironment } from "../../app/load/embedded-environment.ts";

/**
 * Proves the load scenarios: each fault that pressure shows is found by its scenario, and the server without a fault passes. Prints a row
 * each; resolves to the exit code.
 *
 * @throws {UsageError} if `only` matches no fault, scenario or clause
 */
export async function selftestUnderLoad({
  only,
  json = false,
}: {
  readonly only: readonly string[];
  readonly json?: boolean;
}): Promise<number> {
  const engines = await enginesHere();
  const withFaults = trialsOf(chosen(only), engines);
  const trials = [...withFaults, ...withoutFaults(withFaults)];
  if (!engines.includes("k6")) process.stderr.write("There is no k6 here: autocannon alone sends the load.\n");
  const pressed = await runLoadFaults(trials, openEmbeddedEnvironment, (one) => {
    if (!json) process.stdout.write(rowOf(one));
  });
  const wrong = pressed.filter((one) => complaintsOf(one).length > 0).length;
  if (json) process.stdout.write(`${JSON.stringify(pressed.map(plain), null, 2)}\n`);
  else
    process.stdout.write(
      `\n${withFaults.length} loads on faults, ${trials.length - withFaults.length} without: ${verdictOf(wrong)}\n`,
    );
  return wrong === 0 ? exitCodes.fine : exitCodes.broken;
}

const verdictOf = (wrong: number): string =>
  wrong === 0 ? "every fault is found by what it breaks, and nothing where there is none" : `${wrong} wrong`;

function chosen(only: readonly string[]) {
  if (only.length === 0) return loadFaultPlans;
  const globs = only.map(globOf);
  const found = loadFaultPlans.filter(({ fault, scenario, finds }) =>
    globs.some((glob) => [fault, scenario, ...finds].some((text) => glob(text))),
  );
  if (found.length === 0)
    throw new UsageError(`--only ${only.join(" ")} matches no fault that load is put on, scenario or clause.`);
  return found;
}

const plain = ({ fault, trial: { scenario, tier, engine }, finds, found, problem, seconds }: LoadFaultResult) => ({
  fault,
  scenario: scenario.name,
  tier,
  engine,
  finds,
  found: found.map(({ claim }) => claim),
  problem,
  seconds,
});

function rowOf(pressed: LoadFaultResult): string {
  const { fault, trial, found, seconds } = pressed;
  const complaints = complaintsOf(pressed);
  const mark = complaints.length === 0 ? "ok   " : "WRONG";
  const shows = found.length === 0 ? "finds nothing" : `finds ${found.map(({ claim }) => claim).join(", ")}`;
  const row = `${mark} ${(fault ?? "no fault").padEnd(30)} ${trial.scenario.name.padEnd(22)} ${trial.engine.padEnd(10)} ${seconds.toFixed(1).padStart(5)} s  ${shows}`;
  return [row, ...complaints.map((text) => `        ${text}`), ""].join("\n");
}

import { Command } from "commander";

import { startEmbedded } from "../../reference/embedded/embedded-server.ts";
import { noUsableKey } from "../../run/run.ts";
import { readTarget, type TargetFlags } from "../read-target.ts";
import type { Target } from "../../target/target.ts";
import { exitCodes } from "../exit-codes.ts";
import { formatQuestions, planJson } from "../plan/said-plan.ts";
import { planText } from "../plan/plan-text.ts";
import { planRun } from "../../app/plan/run-plan.ts";
import { readScope, type ScopeFlags, withScopeOptions } from "../scope-flags.ts";
import { withTargetOptions } from "../target-flags.ts";
import { terminalOf } from "../terminal.ts";

interface PlanFlags extends TargetFlags, ScopeFlags {
  readonly json?: boolean;
}

const examples = `
Examples:
  conformance plan                                           a run against the embedded reference server
  conformance plan --target acme.json --only 'HOOK-*'
  conformance plan --target acme.json --json | jq '.skipped[].enabledBy'`;

/** `conformance plan`: what a run with the same flags would do. Sends nothing. */
export function planCommand(): Command {
  const command = new Command("plan");
  return withScopeOptions(withTargetOptions(command))
    .option("--json", "as JSON")
    .addHelpText("after", examples)
    .action(async (flags: PlanFlags) => {
      process.exitCode = await plan(flags);
    });
}

async function plan(flags: PlanFlags): Promise<number> {
  const named = readTarget(flags, process.env);
  const scope = readScope(flags);
  const planned = await planRun({ ...scope, target: named ?? (await embeddedTarget()) });
  if (planned === null) {
    process.stderr.write(`${noUsableKey}\n`);
    return exitCodes.nothingExercised;
  }
  const terminal = terminalOf(process.stdout);
  const said = formatQuestions(planned);
  terminal.write(flags.json === true ? `${planJson(said)}\n` : planText(said, terminal.look));
  return exitCodes.fine;
}

/** The embedded server as a run would see it; a plan needs no more of it than its description. */
async function embeddedTarget(): Promise<Target> {
  const embedded = await startEmbedded();
  await embedded.close();
  return embedded.target;
}

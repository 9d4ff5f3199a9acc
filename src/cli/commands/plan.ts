import { Command } from "commander";

import { planRun } from "../../app/plan/run-plan.ts";
import { startEmbedded } from "../../reference/embedded/embedded-server.ts";
import { noUsableKey } from "../../run/run.ts";
import type { Target } from "../../target/target.ts";
import { withControlParts } from "../../target/test-control.ts";
import { withSteps } from "../command.ts";
import { exitCodes } from "../../base/process-end.ts";
import { redactSecrets } from "../errors.ts";
import { toFormattedPlan, planJson, planText } from "../plan/plan-text.ts";
import { failedOption, readScope, scopeAndBoundOptions, type ScopeFlags } from "../scope-flags.ts";
import { type FlagsOf, withOptions } from "../options.ts";
import { readTarget, type TargetFlags, targetOptions } from "../target-flags.ts";
import { terminalOf } from "../terminal.ts";
import { sanitizeJson } from "../../base/sanitize.ts";
import { printText } from "../print-line.ts";

const planOptions = { "--json": "as JSON" } as const;

type PlanFlags = FlagsOf<typeof planOptions> & TargetFlags & ScopeFlags;

const examples = `
Examples:
  conformance plan                                           a run against the embedded reference server
  conformance plan --target acme.json --only 'HOOK-*'
  conformance plan --target acme.json --json | jq '.skipped[].enabledBy'`;

/**
 * `conformance plan`: shows what a run would do. Sends nothing to the tested API. If the target has a test control,
 * sends GET requests to it.
 */
export const planCommand = (): Command =>
  withSteps(
    withOptions(new Command("plan"), targetOptions, scopeAndBoundOptions, failedOption, planOptions).addHelpText(
      "after",
      examples,
    ),
    {
      prepare: (flags: PlanFlags) => ({
        target: readTarget(flags),
        scope: readScope(flags),
        isJson: flags.json === true,
      }),
      act: async ({ target: listed, scope }) => {
        const provided = await withControlParts(listed ?? (await embeddedTarget()), "assume");
        if (provided.kind === "failed") return provided.sentence;
        return (await planRun({ ...scope, target: provided.target })) ?? noUsableKey;
      },
      present: (plan, { isJson }) => {
        if (typeof plan === "string") {
          printText(redactSecrets(plan));
          return exitCodes.nothingExercised;
        }
        const { style, write } = terminalOf(process.stdout);
        const formatted = toFormattedPlan(plan);
        if (isJson) process.stdout.write(`${sanitizeJson(planJson(formatted))}\n`);
        else write(planText(formatted, style));
        return exitCodes.fine;
      },
    },
  );

async function embeddedTarget(): Promise<Target> {
  const embedded = await startEmbedded();
  await embedded.close();
  return embedded.target;
}

import { Command } from "commander";

import type { Scenario } from "../../../scenarios/scenario.ts";
import { readTarget } from "../../target/flags.ts";
import { UsageProblem } from "../../target/problem.ts";
import { exitCodes } from "../exit-codes.ts";
import { type Interruption, onInterruption } from "../interruption.ts";
import { chooseScenarios, shortSet, shortSetInRealTime } from "../../app/load/choice.ts";
import { askConsent, demandConsentIsPossible, needsConsent } from "../loading/confirmation.ts";
import { findEngines } from "../../app/load/engines.ts";
import { outlookText } from "../loading/estimate-text.ts";
import { lookForLoad } from "../../app/load/first-look.ts";
import { type KeptFlags, showKeptLoad } from "../../app/load/kept-report.ts";
import { listedScenarios, listText } from "../loading/list-text.ts";
import { type LoadFlags, readSending, type Sending, targetFlagsOf, withLoadOptions } from "../loading/load-flags.ts";
import { manifestOf } from "../../app/load/manifest.ts";
import { openGround } from "../../app/load/open-ground.ts";
import { type LoadPlan, planLoad, sendable } from "../../app/load/plan-load.ts";
import { prepareLoad, runLoad } from "../../app/load/run-load.ts";
import { readPatches } from "../../embedded/patches.ts";
import { withFormatOptions, withRuleOptions } from "../reporting/format-flags.ts";
import { terminalOf } from "../terminal-of.ts";
import type { Target } from "../../target/target.ts";
import type { Patch } from "../../reference/patch.ts";

const examples = `
Without names: ${shortSet.join(", ")} on the embedded server;
${shortSetInRealTime.join(", ")} on a target of yours.

Examples:
  conformance load                                          the embedded server, within a minute
  conformance load --all                                    every scenario, k6 and autocannon in turns
  conformance load burst --tier pro --engine k6 --segments 2
  conformance load concurrency --target acme.json --yes
  conformance load burst --html load.html --junit junit.xml
  conformance load list
  conformance load judge reports/2026-01-31T02-00-00-000Z-load-embedded
  conformance load hour-limit --target acme.json --tier pro --segments 4 --emit k6-operator | kubectl apply -f -

Exit codes: 0 nothing broken; 1 a must, or a demand of load, is broken; 2 usage, or nobody agreed to the load; 3 the target could not be
reached, nothing was exercised, or a run was invalid; 4 the harness itself failed; 130 interrupted (the report so far is written).`;

/** `conformance load`: sends load, and judges the limits by what came of it. */
export function loadCommand(): Command {
  const command = new Command("load")
    .argument("[scenario...]", "scenarios, by name: `conformance load list`")
    .description("Send load and judge the limits by it; without a target, on the embedded reference server.");
  return (
    withLoadOptions(command)
      // `list` and `judge` have a --json of their own.
      .enablePositionalOptions()
      .addHelpText("after", examples)
      .action(async (names: string[], flags: LoadFlags) => {
        process.exitCode = await load(names, flags);
      })
      .addCommand(listCommand())
      .addCommand(judgeCommand())
  );
}

function listCommand(): Command {
  return new Command("list")
    .description("List the load scenarios: what each shows, and what it needs.")
    .option("--json", "as JSON")
    .addHelpText("after", "\nExamples:\n  conformance load list\n  conformance load list --json | jq '.[].name'")
    .action(({ json }: { readonly json?: boolean }) => {
      const text =
        json === true ? `${JSON.stringify(listedScenarios(), null, 2)}\n` : listText(process.stdout.columns ?? 120);
      process.stdout.write(text);
    });
}

const judgeExamples = `
Examples:
  conformance load judge reports/2026-01-31T02-00-00-000Z-acme-load
  conformance load judge pod-1.log pod-2.log --html load.html`;

function judgeCommand(): Command {
  const command = new Command("judge")
    .argument("<evidence...>", "files of load evidence, logs of k6 pods, or the folder of a load report")
    .description("Judge kept load evidence again. What is of one scenario, tier and engine is merged as segments.")
    .option("--json", "print the report")
    .option("-q, --quiet", "only what is broken, and the verdict")
    .addHelpText("after", judgeExamples);
  return withFormatOptions(withRuleOptions(command), ["har", "statement"]).action(
    (paths: string[], flags: KeptFlags) => {
      process.exitCode = showKeptLoad(paths, flags);
    },
  );
}

async function load(names: readonly string[], flags: LoadFlags): Promise<number> {
  const patches = readPatches(flags.fault, flags.variant);
  const sending = readSending(flags);
  if (flags.emit !== undefined && flags.emit !== "k6-operator")
    throw new UsageProblem(`--emit is ${JSON.stringify(flags.emit)}; there is k6-operator.`);
  const named = readTarget(targetFlagsOf(flags, process.env), process.env);
  if (named !== null && patches.length > 0)
    throw new UsageProblem(
      "--fault and --variant change the embedded server only; a target of your own cannot have them.",
    );
  const scenarios = chooseScenarios(names, flags.all === true, named !== null);
  const isMixed = names.length === 0;
  if (flags.emit !== undefined) {
    if (named === null)
      throw new UsageProblem("--emit needs a target that pods can reach: give --base-url or --target.");
    const sendingByK6: Sending = { ...sending, engine: "k6" };
    const plan = planLoad({ scenarios, sending: sendingByK6, isMixed, engines: ["k6"], target: named });
    process.stdout.write(manifestOf(plan, named, sending.segments));
    return exitCodes.fine;
  }
  if (named !== null) demandConsentIsPossible(named.baseUrl, flags.yes === true);
  const interruption = onInterruption();
  try {
    return await loadOn(named, { scenarios, sending, isMixed, flags, patches, interruption });
  } finally {
    interruption.release();
  }
}

interface LoadParts {
  readonly scenarios: readonly Scenario[];
  readonly sending: Sending;
  readonly isMixed: boolean;
  readonly flags: LoadFlags;
  readonly patches: readonly Patch[];
  readonly interruption: Interruption;
}

async function loadOn(named: Target | null, parts: LoadParts): Promise<number> {
  const { scenarios, sending, isMixed, flags, patches, interruption } = parts;
  const engines = await findEngines();
  const k6 = sending.engine === "k6" ? engines.missing("k6") : null;
  if (k6 !== null) throw new UsageProblem(k6.needs ?? k6.reason);
  const planOf = (target: Target | null): LoadPlan =>
    planLoad({ scenarios, sending, isMixed, engines: engines.names, target });
  // What is wrong with the choice is found before anything is sent or written.
  if (named === null) planOf(null);
  const prepared = prepareLoad(flags, named);
  const looked = named === null ? null : await lookForLoad(named, interruption.signal);
  if (looked?.kind === "nothing to load") {
    terminalOf(process.stderr).write(`${looked.sentence}\n`);
    return interruption.signal.aborted ? exitCodes.interrupted : exitCodes.nothingExercised;
  }
  const target = looked === null ? null : looked.target;
  const plan = planOf(target);
  const ground = openGround(target, patches);
  try {
    tellOutlook(plan, target, (trial) => engines.missing(trial.engine) ?? ground.lack(trial), flags);
    if (target !== null && !(await isAgreed(target, flags, interruption))) {
      process.stderr.write("No load was sent.\n");
      return interruption.signal.aborted ? exitCodes.interrupted : exitCodes.usage;
    }
    return await runLoad({
      plan,
      sending,
      target,
      patches,
      flags,
      prepared,
      engines,
      ground,
      signal: interruption.signal,
    });
  } finally {
    await ground.close();
  }
}

/** What is going to be sent comes first, in any case; where load goes to somebody's server, even when quiet. */
function tellOutlook(
  plan: LoadPlan,
  target: Target | null,
  lackOf: Parameters<typeof sendable>[1],
  { quiet }: LoadFlags,
): void {
  const isOwn = target === null;
  if (isOwn && quiet === true) return;
  const { write } = terminalOf(process.stderr);
  write(outlookText(sendable(plan, lackOf), isOwn));
  for (const sentence of plan.left) write(`Not sent: ${sentence}.\n`);
}

function isAgreed({ baseUrl }: Target, { yes }: LoadFlags, { signal, interrupt }: Interruption): Promise<boolean> {
  if (!needsConsent(baseUrl, yes === true)) return Promise.resolve(true);
  return askConsent(signal, interrupt);
}

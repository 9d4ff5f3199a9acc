import { join, relative } from "node:path";

import { Command } from "commander";

import { slug, timeInName } from "../../base/file-names.ts";
import type { FailurePolicy } from "../../report/model/failure-policy.ts";
import type { Report } from "../../report/model/report.ts";
import { collect } from "../option-parsers.ts";
import { renderTerminal } from "../../report/terminal/render.ts";
import { runExitCode } from "../../report/model/verdict.ts";
import type { Patch } from "../../reference/patch.ts";
import type { RunScope } from "../../run/plan/selection.ts";
import { readTarget, type TargetFlags } from "../read-target.ts";
import { UsageError } from "../../base/usage-error.ts";
import type { Target } from "../../target/target.ts";
import { exitCodes } from "../exit-codes.ts";
import { webhookSecret } from "../../app/judge/hook-secrets.ts";
import { secretsOf } from "../../app/judge/target-secrets.ts";
import { onInterruption } from "../interruption.ts";
import { limitYoungGeneration } from "../v8-flags.ts";
import { prepareFolder } from "../output.ts";
import { patchesByName } from "../../reference/embedded/patches-by-name.ts";
import { baselineText } from "../report/baseline-text.ts";
import { reportToCi } from "../report/ci.ts";
import {
  type FormatFlags,
  readRules,
  type RuleFlags,
  withFormatOptions,
  withRuleOptions,
} from "../report/format-flags.ts";
import { documentAlone, documentOf } from "../../app/report-folder/read-document.ts";
import { type PreparedFormats, prepareFormats, writeFormats } from "../report/write-formats.ts";
import { judge, type JudgedTarget } from "../../app/judge/judge.ts";
import { saveRun } from "../../app/report-folder/saved-run.ts";
import { showRunProgress } from "../run-progress.ts";
import { readScope, type ScopeFlags, withScopeOptions } from "../scope-flags.ts";
import { withTargetOptions } from "../target-flags.ts";
import { terminalOf } from "../terminal.ts";
import { formatUsageError } from "../usage-errors.ts";
import { watchInTerminal, formatResumeHint } from "../watch/terminal-watch.ts";
import { beginState } from "../../app/watch/state.ts";

interface RunFlags extends TargetFlags, ScopeFlags, RuleFlags, FormatFlags {
  readonly complete?: boolean;
  readonly out?: string;
  readonly quiet?: boolean;
  readonly watch?: boolean;
  readonly fault: readonly string[];
  readonly variant: readonly string[];
}

const examples = `
Examples:
  conformance run                                            the embedded reference server
  CONFORMANCE_API_KEY=… conformance run --base-url https://api.example.com/v1
  conformance run --target acme.json --only 'SSE-*' --only Errors
  conformance run --target acme.json --json - | jq .verdict
  conformance run --target acme.json --html acme.html --junit junit.xml

In GitHub Actions the summary of the step and annotations come without asking.

Exit codes: 0 conformant, or partial (nothing broken); 1 a must is broken; 2 usage; 3 the target could not be reached, or nothing
was exercised; 4 the harness itself failed; 130 interrupted (the report so far is written).`;

/** `conformance run`: judges a target, or the embedded reference server where none is named. */
export function runCommand(): Command {
  const command = new Command("run");
  withRuleOptions(withScopeOptions(withTargetOptions(command)))
    .option("--complete", "a must clause that was not exercised fails the run as well")
    .option("--out <dir>", "folder for report.json and evidence.json (default: a new one under reports/)")
    .option("--json <file>", "report.json to this file as well; - prints it, and nothing else, on standard output");
  return withFormatOptions(command)
    .option("--watch", "go on listening until the retry schedule of webhooks is over, up to five hours, and judge then")
    .option("-q, --quiet", "only what is broken, and the verdict")
    .option("--fault <name>", "embedded server only: break one thing on purpose (repeatable)", collect, [])
    .option("--variant <name>", "embedded server only: behave differently, and still legally (repeatable)", collect, [])
    .addHelpText("after", examples)
    .action(async (flags: RunFlags) => {
      process.exitCode = await run(flags);
    });
}

async function run(flags: RunFlags): Promise<number> {
  limitYoungGeneration();
  const patches = patchesByName(flags.fault, flags.variant);
  const named = readTarget(flags, process.env);
  if (named !== null && patches.length > 0)
    throw new UsageError(
      "--fault and --variant change the embedded server only; a target of your own cannot have them.",
    );
  const prepared = prepare(flags, named);
  return show(await perform(named, patches, flags, prepared), { named, patches, flags, prepared });
}

interface Asked {
  readonly named: Target | null;
  readonly patches: readonly Patch[];
  readonly flags: RunFlags;
  readonly prepared: Prepared;
}

async function show(
  judged: JudgedTarget & { readonly hasFailed: boolean },
  { named, patches, flags, prepared }: Asked,
): Promise<number> {
  const hint = named === null ? againText(judged.target, patches) : "";
  const showing = { target: judged.target, flags, prepared, hint };
  if (judged.hasFailed) return Math.max(exitCodes.harnessFailed, present(judged, showing));
  if (flags.watch !== true || judged.interrupted || judged.kind !== "judged") return present(judged, showing);
  try {
    return await watchOn(judged, showing);
  } finally {
    await judged.listened?.live?.close();
  }
}

type JudgedRun = Extract<JudgedTarget, { kind: "judged" }>;

/** What a report is shown with. */
interface Showing {
  readonly target: Target;
  readonly flags: RunFlags;
  readonly prepared: Prepared;
  readonly hint: string;
}

/** Shows the report so far, listens on until the retry schedule is over, and shows what has become of it. */
async function watchOn(session: JudgedRun, showing: Showing): Promise<number> {
  const { target, flags, prepared } = showing;
  const { report, evidence, listened } = session;
  let isShown = false;
  try {
    const watching = {
      folder: prepared.folder,
      state: beginState(prepared.folder, listened, flags.target),
      live: listened?.live ?? null,
      kept: { report, evidence },
      secrets: secretsOf(target),
      onListening: () => {
        isShown = true;
        present(session, showing, "so far");
      },
    };
    const watched = await watchInTerminal(watching, { isQuiet: flags.quiet === true });
    const code = present({ ...session, ...watched.kept }, showing);
    if (watched.kind === "over") return code;
    process.stderr.write(formatResumeHint(prepared.folder));
    return exitCodes.interrupted;
  } catch (error) {
    // What the run itself has shown is not lost with what would have come after it.
    const usage = formatUsageError(error);
    if (usage === null || isShown) throw error;
    process.stderr.write(`${usage}\n`);
    return present(session, showing);
  }
}

/** Everything that can be wrong with the flags is found before anything is sent. */
interface Prepared {
  readonly scope: RunScope;
  readonly rules: FailurePolicy;
  readonly formats: PreparedFormats;
  readonly folder: string;
}

function prepare(flags: RunFlags, named: Target | null): Prepared {
  return {
    scope: readScope(flags),
    rules: readRules(flags),
    formats: prepareFormats(flags),
    folder: prepareFolder(flags.out ?? join("reports", folderName(named))),
  };
}

async function perform(
  target: Target | null,
  patches: readonly Patch[],
  flags: RunFlags,
  { scope }: Prepared,
): Promise<JudgedTarget & { readonly hasFailed: boolean }> {
  const { events, done } = showRunProgress(flags.quiet === true);
  const interruption = onInterruption();
  try {
    const { signal, hasFailed } = interruption;
    const judged = await judge({ ...scope, target, patches, keepsListening: flags.watch === true, signal, events });
    return { ...judged, interrupted: signal.aborted && !hasFailed(), hasFailed: hasFailed() };
  } finally {
    done();
    interruption.release();
  }
}

function present(
  { kind, report, evidence, interrupted }: Pick<JudgedTarget, "kind" | "report" | "evidence" | "interrupted">,
  { target, flags, prepared, hint }: Showing,
  when: "so far" | "at the end" = "at the end",
): number {
  const { formats, rules } = prepared;
  const written = saveRun(prepared.folder, { report, evidence });
  // Of a run in which nothing is broken, the terminal shows no exchange.
  const isEvidenceShown = isBroken(report) || formats.files.length > 0;
  const shown = isEvidenceShown ? documentOf(report, evidence) : documentAlone(report, evidence);
  const isLast = when === "at the end";
  const problems = writeFormats(shown, formats, { rules, report, digests: () => written.digests, isLast });
  const isOnStdout = kind === "judged" && !formats.isStdoutTaken;
  const terminal = terminalOf(isOnStdout ? process.stdout : process.stderr);
  const shellVariableOf = (name: string): string | undefined =>
    name === webhookSecret.name ? webhookSecret.variable : target.keys[name]?.variable;
  const isQuiet = flags.quiet === true;
  const folder = relative(process.cwd(), written.folder).startsWith("..")
    ? written.folder
    : relative(process.cwd(), written.folder);
  terminal.write(
    renderTerminal(shown.report, shown.evidence, {
      ...terminal.look,
      quiet: isQuiet,
      folder,
      shellVariableOf,
    }),
  );
  if (!isQuiet && isBroken(report)) terminal.write(hint);
  for (const problem of [...(written.problem === null ? [] : [written.problem]), ...problems])
    process.stderr.write(`${problem}\n`);
  terminal.write(baselineText(report.findings, rules.baseline));
  if (isLast) reportToCi(shown, rules, formats.isStdoutTaken);
  return interrupted ? exitCodes.interrupted : runExitCode(report, { ...rules, complete: flags.complete === true });
}

const isBroken = ({ totals }: Report): boolean => totals.fail + totals.warning + totals.note > 0;

function folderName(target: Target | null): string {
  return `${timeInName(new Date())}-${slug(target?.name ?? "embedded").slice(0, 40)}`;
}

/** The embedded server is gone when a person reads of it; this brings it back. */
function againText({ baseUrl }: Target, patches: readonly Patch[]): string {
  const flags = patches.map(({ kind, name }) => ` --${kind} ${name}`).join("");
  return `To see it by hand: conformance serve${flags}, its base URL in the place of ${baseUrl}, and its keys in the variables.\n`;
}

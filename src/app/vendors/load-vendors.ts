import { redactDeep, redactorFor } from "../../evidence/redaction.ts";
import { conductLoad } from "../../load/conduct.ts";
import type { LoadEvidence } from "../../load/load-evidence.ts";
import type { ReportDocument } from "../../report/document.ts";
import { reportText } from "../../report/json.ts";
import { duration } from "../../base/duration.ts";
import { secretsOf } from "../session/secrets.ts";
import { packageVersion } from "../session/version.ts";
import { UsageProblem } from "../../target/problem.ts";
import type { Target } from "../../target/target.ts";
import type { Interruption } from "../../cli/interruption.ts";
import { assembleLoadReport, loadTargetOf } from "../../report/assemble/load-report.ts";
import { evidenceFileOf } from "../../load/conduct-trials.ts";
import { chooseScenarios } from "../load/choice.ts";
import { askConsent, needsConsent } from "../../cli/loading/confirmation.ts";
import { type EnginesHere, engines as sendingEngines, findEngines } from "../load/engines.ts";
import { outlookText } from "../../cli/loading/estimate-text.ts";
import { invalidText } from "../load/exit-code.ts";
import { lookForLoad } from "../load/first-look.ts";
import type { Sending } from "../../cli/loading/load-flags.ts";
import { openGround } from "../load/open-ground.ts";
import { boundOf, type LoadPlan, planLoad, sendable } from "../load/plan-load.ts";
import { writeFiles } from "../folder/write-files.ts";
import type { JudgedVendor } from "./judge-vendor.ts";
import type { Say } from "../../cli/vendors/progress.ts";

/** What load the vendors get: the same for all. */
export interface Loading {
  /** Names of scenarios. */
  readonly scenarios: readonly string[];
  readonly sending: Sending;
  readonly isYes: boolean;
  readonly interruption: Interruption;
}

/** What loading one vendor came to: its report, or one sentence on why there is none. */
type Loaded =
  | { readonly kind: "loaded"; readonly document: ReportDocument }
  | { readonly kind: "not loaded"; readonly why: string };

/**
 * Loads the targets that were judged, one after the other: at the same time they would disturb each other's figures. What cannot be loaded
 * keeps its column, with a note.
 */
export async function loadVendors(
  judged: readonly JudgedVendor[],
  loading: Loading,
  folderOf: (name: string) => string,
  sayOf: (name: string) => Say,
): Promise<JudgedVendor[]> {
  const engines = await findEngines();
  const done: JudgedVendor[] = [];
  for (const each of judged) {
    const { vendor, target } = each;
    if (vendor.kind === "unjudged" || target === null) {
      done.push(each);
      continue;
    }
    const say = sayOf(vendor.name);
    const loaded = await loadOne(target, loading, engines, `${folderOf(vendor.name)}-load`, say);
    if (loaded.kind === "loaded") {
      const invalid = invalidText(loaded.document.report);
      const notes = [...vendor.notes, ...(invalid === null ? [] : [`Load: ${invalid}`])];
      done.push({ ...each, vendor: { ...vendor, load: loaded.document, notes } });
    } else {
      say(`no load: ${loaded.why}`);
      done.push({ ...each, vendor: { ...vendor, notes: [...vendor.notes, `No load was sent: ${loaded.why}`] } });
    }
  }
  return done;
}

async function loadOne(
  target: Target,
  loading: Loading,
  engines: EnginesHere,
  folder: string,
  say: Say,
): Promise<Loaded> {
  const { signal } = loading.interruption;
  if (signal.aborted) return { kind: "not loaded", why: "interrupted." };
  const looked = await lookForLoad(target, signal);
  if (looked.kind !== "ready") return { kind: "not loaded", why: looked.sentence };
  const plan = planOf(looked.target, loading, engines);
  if (typeof plan === "string") return { kind: "not loaded", why: plan };
  const ground = openGround(looked.target, []);
  try {
    const lackOf: Parameters<typeof sendable>[1] = (trial) => engines.missing(trial.engine) ?? ground.lack(trial);
    process.stderr.write(outlookText(sendable(plan, lackOf), false));
    if (needsConsent(target.baseUrl, loading.isYes) && !(await askConsent(signal, loading.interruption.interrupt)))
      return { kind: "not loaded", why: "its owner's consent was not given." };
    return { kind: "loaded", document: await send(looked.target, plan, { loading, engines, ground, folder, say }) };
  } finally {
    await ground.close();
  }
}

/** The plan, or why there is none. */
function planOf(target: Target, { scenarios, sending }: Loading, engines: EnginesHere): LoadPlan | string {
  try {
    const chosen = chooseScenarios(scenarios, false, true);
    return planLoad({ scenarios: chosen, sending, isMixed: false, engines: engines.names, target });
  } catch (error) {
    if (error instanceof UsageProblem) return error.message;
    throw error;
  }
}

interface SendParts {
  readonly loading: Loading;
  readonly engines: EnginesHere;
  readonly ground: ReturnType<typeof openGround>;
  readonly folder: string;
  readonly say: Say;
}

async function send(target: Target, plan: LoadPlan, parts: SendParts): Promise<ReportDocument> {
  const { loading, engines, ground, folder, say } = parts;
  const secrets = secretsOf(target);
  const redact = redactorFor(secrets);
  const load = new Map<string, LoadEvidence>();
  const started = new Date();
  let waitedMs = 0;
  const keep = (file: string, text: string): void => {
    const { problem } = writeFiles(folder, { [file]: text });
    if (problem !== null) say(problem);
  };
  const outcomes = await conductLoad({
    trials: plan.trials,
    ground,
    engines: sendingEngines,
    missing: engines.missing,
    segments: loading.sending.segments,
    dashboardOf: () => null,
    requestsOf: (trial) => boundOf(plan, trial),
    maxRequests: loading.sending.maxRequests,
    signal: loading.interruption.signal,
    onTrial: ({ scenario, tier, engine }) => say(`load: ${scenario.name}, ${tier}, ${engine}`),
    onWait: (ms, why) => {
      waitedMs += ms;
      say(`waiting ${duration(ms)}: ${why}`);
    },
    onProgress: () => {},
    onOutcome: (outcome) => {
      if (outcome.kind === "skipped" || outcome.evidence === null) return;
      const [file, evidence] = [evidenceFileOf(outcome.trial), redactDeep(outcome.evidence, redact, secrets)];
      load.set(file, evidence);
      keep(file, `${JSON.stringify(evidence)}\n`);
    },
  });
  const report = assembleLoadReport(outcomes, {
    version: packageVersion(),
    target: loadTargetOf(target),
    started,
    finished: new Date(),
    waitedMs,
    stopped: loading.interruption.signal.aborted ? "interrupted" : null,
    fileOf: evidenceFileOf,
  });
  const shown = redactDeep(report, redact, secrets);
  keep("report.json", reportText(shown));
  return { report: shown, evidence: null, load };
}

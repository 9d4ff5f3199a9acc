import { assertOpenFiles } from "../../base/harness-limit.ts";
import { startEmbedded } from "../../reference/embedded/embedded-server.ts";
import type { StatedFacts } from "../../report/model/report.ts";
import type { Patch } from "../../reference/patch.ts";
import { limitsOf } from "../../run/plan/key-limits.ts";
import { type RunScope, unselectedMusts } from "../../run/plan/selection.ts";
import { suites as allSuites, suitesOfParty } from "../../suites/all.ts";
import { applyBaseline, type Baseline } from "../../report/model/failure-policy.ts";
import type { ProbeRun } from "../../run/plan/plan.ts";
import type { Judgement } from "../../run/judge/judge-evidence.ts";
import { clauseOf } from "../../spec/clauses.ts";
import { countsIn, newestRequirementsOfAnyParty } from "../../spec/clause.ts";
import { findingRowOf } from "../report/findings.ts";
import type { PublishedTier } from "../../spec/tiers.ts";
import type { Target } from "../../target/target.ts";
import { withControlParts } from "../../target/test-control.ts";
import { type RedactedRun, reportRun, runAndReport } from "./run-and-report.ts";
import { deliveryHeaders, type DeliverySettings, runDeliveries } from "../../run/run-party.ts";
import { noExchange } from "../../run/review-recording.ts";
import type { Messages } from "../../run/skip-reason.ts";
import { writeAndRename } from "../report-folder/write-files.ts";
import { probesOf } from "../../run/judge/check.ts";
import type { OutgoingDelivery, SentDelivery } from "../../run/party-session.ts";
import { slug } from "../../base/files/output-folders.ts";

export interface RunEvents {
  readonly onStart?: (target: Target) => void;
  readonly onPlan?: (probes: number) => void;
  readonly onProbe?: (probe: string) => void;
  readonly onWait?: (ms: number, why: string) => void;
  /** Asks the user for the main key's tier if response headers do not show the tier. `null`: the tier stays unknown. */
  readonly onUnknownTier?: (keyName: string) => Promise<PublishedTier | null>;
}

interface JudgeTargetOptions extends RunScope, Omit<StatedFacts, "selection"> {
  /** The target to judge. `null`: the run starts the embedded reference server and judges that server. */
  readonly target: Target | null;
  readonly patches: readonly Patch[];
  /** Whether the webhook receiver stays open after the run, until the caller closes it. Default: `false`. */
  readonly keepsListening?: boolean;
  /** If set, the run ends when the target breaks a must clause. Failures listed in `known` do not count. */
  readonly failFast?: { readonly known: Baseline };
  /** When this signal aborts, the run ends early. It then judges the evidence that it has so far. */
  readonly signal: AbortSignal;
  readonly events: RunEvents;
}

export type JudgedTarget = RedactedRun & { readonly target: Target };

/** Maximum number of sockets in a run on the embedded server. A connection uses two: this process has both ends. */
const maxEmbeddedSockets = 128;
const maxTargetConnections = 32;

export const maxConnectionsOfRun = (target: Target | null): number =>
  target === null
    ? maxEmbeddedSockets
    : maxTargetConnections +
      Math.max(0, ...Object.values(target.keys).map((key) => limitsOf(key, target)?.concurrent ?? 0));

export async function judgeTarget({
  target: givenTarget,
  patches,
  events,
  failFast,
  ...options
}: JudgeTargetOptions): Promise<JudgedTarget> {
  assertOpenFiles(maxConnectionsOfRun(givenTarget));
  const { target: chosenTarget, close } =
    givenTarget === null ? await startEmbedded(patches) : { target: givenTarget, close: closeNothing };
  try {
    // Gets the target's test keys before the run, because the run must redact them.
    const issued = await withControlParts(chosenTarget, "issue");
    const target = issued.kind === "provided" ? issued.target : chosenTarget;
    events.onStart?.(target);
    const judged = await runAndReport(
      {
        ...options,
        target,
        // Tells other runs which keys this run uses. No other run can use the keys of the embedded server.
        announces: givenTarget !== null,
        ...progressOptions(events),
        onWait: (ms, why) => events.onWait?.(ms, why),
        ...(issued.kind === "failed" && { obstacle: issued.sentence }),
        ...(failFast && { stopsAt: stopsAt(failFast.known, options) }),
        ...(events.onUnknownTier && { onUnknownTier: events.onUnknownTier }),
      },
      unselectedMusts(allSuites, options.suites, options.requirements),
    );
    return { ...judged, target };
  } finally {
    await close();
  }
}

export const progressOptions = ({ onPlan, onProbe }: Pick<RunEvents, "onPlan" | "onProbe">) => ({
  onPlan: (probes: number): void => onPlan?.(probes),
  onProbe: ({ planned }: ProbeRun): void => onProbe?.(planned.probe.name),
});

const stopsAt =
  (known: Baseline, { requirements, messages }: Pick<RunScope, "requirements" | "messages">) =>
  (breach: Judgement): boolean =>
    clauseOf(breach.check.clause).level === "must" &&
    countsIn(breach.check.since, requirements) &&
    applyBaseline([findingRowOf(breach, messages)], known).excused.length === 0;

const closeNothing = async (): Promise<void> => {};

interface JudgeReceiverOptions extends DeliverySettings {
  readonly target: Target;
  readonly messages: Messages;
  readonly signal: AbortSignal;
  readonly progress: Pick<RunEvents, "onStart" | "onPlan" | "onProbe">;
}

const maxConnections = 32;

export async function judgeReceiver({ progress, messages, ...options }: JudgeReceiverOptions): Promise<JudgedTarget> {
  assertOpenFiles(maxConnections);
  const { target } = options;
  progress.onStart?.(target);
  const started = new Date();
  const result = await runDeliveries({
    ...options,
    suites: suitesOfParty("receiver"),
    ...progressOptions(progress),
  });
  const facts = { party: "receiver", requirements: newestRequirementsOfAnyParty, started, messages } as const;
  return { ...reportRun(result, facts, options), target };
}

/** Writes deliveries into a folder, without sending them: a file per body, and all headers in `deliveries.json`. */
export async function writeDeliveries(folder: string, settings: DeliverySettings): Promise<number> {
  const files: Record<string, string> = {};
  const written: object[] = [];
  const checks = suitesOfParty("receiver").flatMap((suite) => suite.checks);
  for (const probe of new Set(checks.flatMap(({ on }) => Object.values(probesOf(on))))) {
    const deliver = async ({ what, body, headers: own }: OutgoingDelivery): Promise<SentDelivery> => {
      const file = `${String(written.length + 1).padStart(2, "0")}-${slug(what)}.json`;
      const headers = Object.fromEntries(deliveryHeaders(body, [...own, ...settings.headers]));
      files[file] = body;
      written.push({ probe: probe.name, what, file, headers });
      return { what, exchange: noExchange };
    };
    await probe.deliver?.({ ...settings, deliver });
  }
  writeAndRename(folder, { ...files, "deliveries.json": `${JSON.stringify(written, null, 2)}\n` });
  return written.length;
}

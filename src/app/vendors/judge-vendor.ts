import { basename, join } from "node:path";

import { messageOf } from "../../base/errors.ts";
import { slug } from "../../base/file-names.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import { serializeEvidenceChunks, serializeReport } from "../../report/model/report-file.ts";
import { duration } from "../../base/duration.ts";
import type { Vendor } from "../../report/vendors/vendor.ts";
import { formatClauseCounts } from "../../report/vendors/summary.ts";
import { vendorSummary } from "../../report/vendors/comparison.ts";
import type { RunScope } from "../../run/plan/selection.ts";
import { judge } from "../judge/judge.ts";
import { UsageError } from "../../base/usage-error.ts";
import type { Target } from "../../target/target.ts";
import { writeFiles } from "../report-folder/write-files.ts";
import { documentOf, readDocument } from "../report-folder/read-document.ts";
import type { NamedVendor } from "./vendors-file.ts";

/** Tells how one of several runs goes on, a line at a time. */
export type PrintLine = (text: string) => void;

/** How every target is judged: the same for all. */
export interface VendorJudging extends RunScope {
  readonly signal: AbortSignal;
}

/** What came of a vendor, and the exit code that a run of it alone would have had where it has no report. */
export interface JudgedVendor {
  readonly vendor: Vendor;
  /** `null` where it was not reached, or its report was kept. */
  readonly target: Target | null;
  /** Whether the harness itself failed. */
  readonly isHarness: boolean;
}

/** @param folder where the report is written, at once */
export async function judgeVendor(
  named: NamedVendor,
  target: Target | null,
  judging: VendorJudging,
  folder: string,
  say: PrintLine,
): Promise<JudgedVendor> {
  const { name } = named;
  try {
    if (named.kind === "report") return { vendor: keptVendor(named), target: null, isHarness: false };
    if (target === null) throw new Error("the target was not read");
    return { vendor: await runVendor(named, target, judging, folder, say), target, isHarness: false };
  } catch (error) {
    const isHarness = !(error instanceof UsageError);
    const text = messageOf(error);
    const reason = isHarness ? `The harness itself failed; this is not the target's fault: ${text}` : text;
    say(`not judged: ${reason}`);
    return { vendor: unjudged(name, target, reason), target: null, isHarness };
  }
}

export const unjudged = (name: string, target: Target | null, reason: string): Vendor => ({
  kind: "unjudged",
  name,
  baseUrl: target?.baseUrl ?? null,
  reason,
});

function keptVendor({ name, report, load }: Extract<NamedVendor, { kind: "report" }>): Vendor {
  const document = readDocument(report);
  if (document.report.load !== undefined)
    throw new UsageError(
      `${report} is the report of a load run: give it as \`load\`, and the report of a run as \`report\`.`,
    );
  return { kind: "judged", name, document, load: keptLoad(load), isKept: true, notes: [] };
}

/** @throws {UsageError} */
function keptLoad(path: string | null) {
  if (path === null) return null;
  const document = readDocument(path);
  if (document.report.load === undefined) throw new UsageError(`${path} is no report of a load run.`);
  return document;
}

async function runVendor(
  { name, load }: NamedVendor,
  target: Target,
  judging: VendorJudging,
  folder: string,
  say: PrintLine,
): Promise<Vendor> {
  const kept = keptLoad(load);
  say(`judging ${target.baseUrl}`);
  const session = await judge({
    ...judging,
    target,
    patches: [],
    events: {
      onPlan: (probes) => say(`${probes} probes`),
      onWait: (ms, why) => {
        if (ms > shortWaitMs) say(`waiting ${duration(ms)}: ${why}`);
      },
    },
  });
  const files = {
    "report.json": serializeReport(session.report),
    "evidence.json": () => serializeEvidenceChunks(session.evidence),
  };
  const written = writeFiles(folder, files);
  if (written.problem !== null) say(written.problem);
  if (session.kind === "nothing to judge") {
    say(`not judged: ${session.sentence}`);
    return unjudged(name, target, session.sentence);
  }
  const document = documentOf(session.report, session.evidence);
  const vendor: Vendor = { kind: "judged", name, document, load: kept, isKept: false, notes: [] };
  const head = vendorSummary(vendor);
  if (head.kind === "judged") say(`${head.verdict}: ${formatClauseCounts(head)}`);
  return vendor;
}

/** Waits up to this long are not worth a line. */
const shortWaitMs = 2000;

/** Names of folders for vendors, each its own. */
export function foldersOf(names: readonly string[], out: string): Map<string, string> {
  const taken = new Set<string>();
  return new Map(
    names.map((name) => {
      const own = slug(sanitizeLine(name, 60)) || "vendor";
      let free = own;
      for (let at = 2; taken.has(free); at += 1) free = `${own}-${at}`;
      taken.add(free);
      return [name, join(out, basename(free))];
    }),
  );
}

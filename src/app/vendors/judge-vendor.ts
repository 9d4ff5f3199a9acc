import { basename, join } from "node:path";

import { messageOf } from "../../base/errors.ts";
import { slug } from "../../base/file-names.ts";
import { harmlessLine } from "../../base/harmless.ts";
import { evidencePieces, reportText } from "../../report/json.ts";
import { duration } from "../../base/duration.ts";
import type { Vendor } from "../../vendors/vendor.ts";
import { countsText } from "../../vendors/words.ts";
import { headOf } from "../../vendors/side-by-side.ts";
import type { RunScope } from "../../run/selection.ts";
import { judge } from "../judge/judge.ts";
import { UsageProblem } from "../../target/problem.ts";
import type { Target } from "../../target/target.ts";
import { writeFiles } from "../folder/write-files.ts";
import { documentOf, readDocument } from "../folder/read-document.ts";
import type { NamedVendor } from "./vendors-file.ts";

/** Tells how one of several runs goes on, a line at a time. */
export type Say = (text: string) => void;

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
  say: Say,
): Promise<JudgedVendor> {
  const { name } = named;
  try {
    if (named.kind === "report") return { vendor: keptVendor(named), target: null, isHarness: false };
    if (target === null) throw new Error("the target was not read");
    return { vendor: await runVendor(named, target, judging, folder, say), target, isHarness: false };
  } catch (error) {
    const isHarness = !(error instanceof UsageProblem);
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
    throw new UsageProblem(
      `${report} is the report of a load run: give it as \`load\`, and the report of a run as \`report\`.`,
    );
  return { kind: "judged", name, document, load: keptLoad(load), isKept: true, notes: [] };
}

/** @throws {UsageProblem} */
function keptLoad(path: string | null) {
  if (path === null) return null;
  const document = readDocument(path);
  if (document.report.load === undefined) throw new UsageProblem(`${path} is no report of a load run.`);
  return document;
}

async function runVendor(
  { name, load }: NamedVendor,
  target: Target,
  judging: VendorJudging,
  folder: string,
  say: Say,
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
  const files = { "report.json": reportText(session.report), "evidence.json": () => evidencePieces(session.evidence) };
  const written = writeFiles(folder, files);
  if (written.problem !== null) say(written.problem);
  if (session.kind === "nothing to judge") {
    say(`not judged: ${session.sentence}`);
    return unjudged(name, target, session.sentence);
  }
  const document = documentOf(session.report, session.evidence);
  const vendor: Vendor = { kind: "judged", name, document, load: kept, isKept: false, notes: [] };
  const head = headOf(vendor);
  if (head.kind === "judged") say(`${head.verdict}: ${countsText(head)}`);
  return vendor;
}

/** Waits up to this long are not worth a line. */
const shortWaitMs = 2000;

/** Names of folders for vendors, each its own. */
export function foldersOf(names: readonly string[], out: string): Map<string, string> {
  const taken = new Set<string>();
  return new Map(
    names.map((name) => {
      const own = slug(harmlessLine(name, 60)) || "vendor";
      let free = own;
      for (let at = 2; taken.has(free); at += 1) free = `${own}-${at}`;
      taken.add(free);
      return [name, join(out, basename(free))];
    }),
  );
}

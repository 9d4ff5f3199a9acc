import { performance } from "node:perf_hooks";

import { duration } from "../../base/duration.ts";
import type { EnginesHere } from "../load/engines.ts";
import { invalidText } from "../load/invalid-text.ts";
import { type LoadView, silentView } from "../load/load-view.ts";
import { noLoadText } from "../load/no-load.ts";
import type { Outlook } from "../load/plan-load.ts";
import type { SentLoad } from "../load/keep-load.ts";
import { type NotSent, sendLoad } from "../load/send-load.ts";
import type { LoadWish } from "../load/wish.ts";
import type { VendorWithReport } from "../../vendors/vendor.ts";
import type { AllParts } from "./judge-all.ts";
import type { JudgedVendor, Say, VendorJudging } from "./judge-vendor.ts";

/** What load the vendors get: the same for all. */
export interface VendorsLoad {
  /** Never in turns: what stands side by side has to be the same load by the same engine. */
  readonly wish: Omit<LoadWish, "maxRequests">;
  readonly engines: EnginesHere;
  /** Before load is sent to one of them. */
  readonly planned: (outlook: Outlook) => void;
  /** Asked for each target that is not on loopback. */
  readonly agree: (outlook: Outlook) => boolean | Promise<boolean>;
}

/**
 * Loads the targets that were judged, one after the other: at the same time they would disturb each other's figures. What cannot be loaded
 * keeps its column, with a note.
 */
export async function loadVendors(
  judged: readonly JudgedVendor[],
  { wish, engines, planned, agree }: VendorsLoad,
  { judging, folderOf, sayOf }: Pick<AllParts, "judging" | "folderOf" | "sayOf">,
): Promise<JudgedVendor[]> {
  // The runs have just ended; of two vendors at one address, a load is in the windows of the other's keys as well.
  const ranUntilMs = performance.now();
  const usedAtMs = new Map<string, number>();
  const done: JudgedVendor[] = [];
  for (const each of judged) {
    const { vendor, target } = each;
    if (vendor.kind === "unjudged" || target === null) {
      done.push(each);
      continue;
    }
    const say = sayOf(vendor.name);
    const { isReadOnly, wording, signal } = judging;
    const options = {
      ...wish,
      maxRequests: leftOf(vendor, judging),
      usedAtMs: usedAtMs.get(target.baseUrl) ?? ranUntilMs,
      view: viewOf(planned, say),
      target,
      engines,
      isReadOnly,
      wording,
      agree,
      signal,
    };
    const sent = await sendLoad(options, `${folderOf(vendor.name)}-load`);
    usedAtMs.set(target.baseUrl, performance.now());
    done.push({ ...each, vendor: sent.kind === "sent" ? loaded(vendor, sent) : notLoaded(vendor, sent, say) });
  }
  return done;
}

/** Of a target's bound, what its run has left. */
const leftOf = ({ document }: VendorWithReport, { maxRequests }: VendorJudging): number =>
  maxRequests === null ? Number.POSITIVE_INFINITY : Math.max(0, maxRequests - document.report.requests);

function loaded(vendor: VendorWithReport, { document }: SentLoad): VendorWithReport {
  const invalid = invalidText(document.report);
  return { ...vendor, load: document, notes: [...vendor.notes, ...(invalid === null ? [] : [`Load: ${invalid}`])] };
}

function notLoaded(vendor: VendorWithReport, { why }: NotSent, say: Say): VendorWithReport {
  const text = noLoadText(why);
  say(`no load: ${text}`);
  return { ...vendor, notes: [...vendor.notes, `No load was sent: ${text}`] };
}

const viewOf = (planned: VendorsLoad["planned"], say: Say): LoadView => ({
  ...silentView,
  planned,
  trial: ({ scenario, tier, engine }) => say(`load: ${scenario.name}, ${tier}, ${engine}`),
  waiting: (ms, why) => say(`waiting ${duration(ms)}: ${why}`),
  problem: say,
});

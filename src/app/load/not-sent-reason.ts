import { scenarios } from "../../load/scenarios.ts";
import type { TierName } from "../../spec/tiers.ts";
import type { SkipText } from "../../run/skip-reason.ts";
import { UsageError } from "../../base/usage-error.ts";

/** Why no load is sent. Each way in says it in its own words; {@link describeNotSent} are plain ones. */
export type NotSentReason =
  | { readonly kind: "unknown scenario"; readonly name: string; readonly near: readonly string[] }
  | { readonly kind: "no engine"; readonly lack: SkipText }
  | { readonly kind: "no tier" }
  | { readonly kind: "no key of the tier"; readonly wanted: TierName; readonly tiers: readonly TierName[] }
  /** `left`: what was chosen and cannot be sent, a sentence each. */
  | { readonly kind: "nothing to send"; readonly left: readonly string[] }
  | { readonly kind: "several runs"; readonly runs: number }
  | { readonly kind: "lacks what it needs"; readonly scenario: string; readonly lack: SkipText }
  /** The first look found nothing that load could be sent to. */
  | { readonly kind: "nothing to load"; readonly sentence: string }
  /** Its name is taken out of every URL. */
  | { readonly kind: "unsendable agent"; readonly problem: string }
  /** Load invokes agents, and nothing but GET may be sent. */
  | { readonly kind: "read only" }
  | { readonly kind: "interrupted" }
  | { readonly kind: "not agreed" };

/** A choice of load that cannot be sent, whatever the target answers. */
export class UnsendableLoadError extends UsageError {
  readonly why: NotSentReason;

  constructor(why: NotSentReason) {
    super(describeNotSent(why));
    this.why = why;
  }
}

/** Why there is no load, in one sentence that names no way in. */
export function describeNotSent(why: NotSentReason): string {
  switch (why.kind) {
    case "unknown scenario":
      return `There is no load scenario ${JSON.stringify(why.name)}. ${nearText(why.near)}`;
    case "no engine":
      return why.lack.needs ?? why.lack.reason;
    case "no tier":
      return "The tier of no key is known, or its numbers are not: give `tier` and `tiers` in a target file.";
    case "no key of the tier":
      return `The target has no usable key of the ${why.wanted} tier; there are keys of ${why.tiers.join(", ")}.`;
    case "nothing to send":
      return `There is nothing to send: ${why.left.join("; ")}.`;
    case "several runs":
      return `A manifest is of one run, and ${why.runs} are chosen: name one scenario, and one tier.`;
    case "lacks what it needs":
      return `${why.scenario}: ${why.lack.reason}${why.lack.needs === null ? "" : ` (${why.lack.needs})`}.`;
    case "nothing to load":
      return why.sentence;
    case "unsendable agent":
      return `${why.problem}: name another agent. Nothing was sent.`;
    case "read only":
      return "load invokes agents, and nothing but GET may be sent.";
    case "interrupted":
      return "Interrupted before any load was sent.";
    case "not agreed":
      return "its owner's consent was not given.";
  }
}

const nearText = (near: readonly string[]): string =>
  near.length > 0 ? `Near: ${near.join(", ")}.` : `There are: ${scenarios.map(({ name }) => name).join(", ")}.`;

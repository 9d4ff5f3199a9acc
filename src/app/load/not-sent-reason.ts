import { scenarios } from "../../load/scenarios.ts";
import type { HarnessLimitError } from "../../base/harness-limit.ts";
import type { TierName } from "../../spec/tiers.ts";
import type { SkipText } from "../../run/skip-reason.ts";
import { safeLine, UsageError } from "../../base/line.ts";

export type NotSentReason =
  | { readonly kind: "unknown scenario"; readonly name: string; readonly near: readonly string[] }
  | { readonly kind: "no engine"; readonly missing: SkipText }
  | { readonly kind: "no tier" }
  /** The target requires no keys, so it has no rate limits of keys that a load could test. */
  | { readonly kind: "no keys" }
  | { readonly kind: "no key of the tier"; readonly wanted: TierName; readonly tiers: readonly TierName[] }
  /** None of the chosen scenarios can be sent. `left` contains the reason for each scenario. */
  | { readonly kind: "nothing to send"; readonly left: readonly string[] }
  | { readonly kind: "several runs"; readonly runs: number }
  | { readonly kind: "lacks what it needs"; readonly scenario: string; readonly missing: SkipText }
  | { readonly kind: "nothing to load"; readonly sentence: string }
  /** This machine ran out of a resource that discovery needs, such as file descriptors. */
  | { readonly kind: "harness limit"; readonly limit: HarnessLimitError }
  /** The agent's id, such as `..`, cannot be a part of a URL. `problem` gives the reason. */
  | { readonly kind: "unsendable agent"; readonly problem: string }
  /** The user allowed only GET requests, but a load needs POST requests to invoke agents. */
  | { readonly kind: "read only" }
  | { readonly kind: "interrupted" }
  | { readonly kind: "not agreed" };

export class UnsendableLoadError extends UsageError {
  readonly reason: NotSentReason;

  constructor(why: NotSentReason) {
    super(safeLine(describeNotSent(why)));
    this.reason = why;
  }
}

export function describeNotSent(why: NotSentReason): string {
  switch (why.kind) {
    case "unknown scenario":
      return `There is no load scenario ${JSON.stringify(why.name)}. ${similarNamesText(why.near)}`;
    case "no engine":
      return why.missing.needs ?? why.missing.reason;
    case "no tier":
      return "No key has a known tier with known limits: give `tier` and `tiers` in a target file.";
    case "no keys":
      return "The target asks for no keys (`auth` in the target file), and load is judged by the limits of a key.";
    case "no key of the tier":
      return `The target has no usable key of the ${why.wanted} tier; there are keys of ${why.tiers.join(", ")}.`;
    case "nothing to send":
      return `There is nothing to send: ${why.left.join("; ")}.`;
    case "several runs":
      return `A manifest holds one run, and ${why.runs} are chosen: name one scenario, and one tier.`;
    case "lacks what it needs":
      return `${why.scenario}: ${why.missing.reason}${why.missing.needs === null ? "" : ` (${why.missing.needs})`}.`;
    case "nothing to load":
      return why.sentence;
    case "harness limit":
      return `No verdict, and not the target's fault: ${why.limit.message}.`;
    case "unsendable agent":
      return `${why.problem}: name another agent. Nothing was sent.`;
    case "read only":
      return "load invokes agents, and only GET requests are allowed.";
    case "interrupted":
      return "Interrupted before any load was sent.";
    case "not agreed":
      return "its owner's consent was not given.";
  }
}

const similarNamesText = (names: readonly string[]): string =>
  names.length > 0 ? `Near: ${names.join(", ")}.` : `There are: ${scenarios.map(({ name }) => name).join(", ")}.`;

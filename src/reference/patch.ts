import type { ClauseId } from "../spec/clauses.ts";
import { standard, type Behaviour } from "./behaviour/behaviour.ts";

/** Returns decisions that replace some of those of `base`. Each call makes new state for them. */
export type Override = (base: Behaviour) => Partial<Behaviour>;

/**
 * A named change of the server's behaviour. A fault breaks the clauses that it names. A variant is another behaviour
 * that the document allows: the report may have notes on it, but no failures.
 */
export interface Patch {
  readonly name: string;
  readonly kind: "fault" | "variant";
  /** Heading of the document that the patch concerns. */
  readonly section: string;
  readonly summary: string;
  /**
   * The clauses that the patch breaks. A variant breaks advisory clauses only. A load fault may break none: the load's
   * own rules find it.
   */
  readonly breaks: readonly ClauseId[];
  /** Clauses that the patch breaks in some runs only, for example when the headers happen to report the other window. */
  readonly mayAlsoBreak: readonly ClauseId[];
  /** Who has to detect the patch. `load`: it takes concurrent requests, or thousands of them. */
  readonly detectedBy: "suites" | "load";
  readonly override: Override;
}

/** The standard behaviour with patches applied in order. Each patch gets the result of the patches before it. */
export function applyPatches(patches: readonly Patch[]): Behaviour {
  return patches.reduce<Behaviour>((base, { override }) => ({ ...base, ...override(base) }), standard);
}

/** Faults by name: the clauses that each breaks, its summary, its override, and the clauses that it may also break. */
export type FaultRows = Readonly<
  Record<string, readonly [readonly ClauseId[], string, Override, mayAlsoBreak?: readonly ClauseId[]]>
>;

/** Variants by name: the summary, the override, and the advisory clauses on which the report has a note. */
export type VariantRows = Readonly<Record<string, readonly [string, Override, notes?: readonly ClauseId[]]>>;

export function faults(section: string, rows: FaultRows, detectedBy: Patch["detectedBy"] = "suites"): readonly Patch[] {
  return Object.entries(rows).map(([name, [breaks, summary, override, mayAlsoBreak = []]]) => {
    return { name, kind: "fault", section, summary, breaks, mayAlsoBreak, detectedBy, override };
  });
}

export function variants(section: string, rows: VariantRows): readonly Patch[] {
  return Object.entries(rows).map(([name, [summary, override, breaks = []]]) => {
    return { name, kind: "variant", section, summary, breaks, mayAlsoBreak: [], detectedBy: "suites", override };
  });
}

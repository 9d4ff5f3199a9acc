import type { ClauseId } from "../spec/clauses.ts";
import { standard, type Behaviour } from "./behaviour/behaviour.ts";

/** Other decisions in place of some of a behaviour's. State that they need is made anew with each call. */
export type Override = (base: Behaviour) => Partial<Behaviour>;

/**
 * One named change of behaviour. A fault breaks the clauses it names; a variant is another legal behaviour and draws a
 * note at most. Both replace decisions of the table and nothing else.
 */
export interface Patch {
  readonly name: string;
  readonly kind: "fault" | "variant";
  /** Heading of the document that it concerns. */
  readonly section: string;
  readonly summary: string;
  /** Clauses it breaks: of a variant advisory ones alone, and none of a fault that breaks only what load demands beyond the document. */
  readonly breaks: readonly ClauseId[];
  /** Clauses that it breaks only where chance has it: by which window an answer's headers speak of. */
  readonly mayBreak: readonly ClauseId[];
  /** Which harness sees it. What `load` alone shows needs many requests at once, or thousands of them; the suites need not see it. */
  readonly shownBy: "suites" | "load";
  readonly patch: Override;
}

/** The standard behaviour with patches applied in order; a later one sees what an earlier one left. */
export function applyPatches(patches: readonly Patch[]): Behaviour {
  return patches.reduce<Behaviour>((base, { patch }) => ({ ...base, ...patch(base) }), standard);
}

/** Rows of faults, each `name: [clauses it breaks, summary, change]`, with those that it breaks only by chance. */
export type FaultRows = Readonly<
  Record<
    string,
    | readonly [readonly ClauseId[], string, Override]
    | readonly [readonly ClauseId[], string, Override, readonly ClauseId[]]
  >
>;

/** Rows of variants, each `name: [summary, change]`, with the advisory clauses of which it draws a note. */
export type VariantRows = Readonly<
  Record<string, readonly [string, Override] | readonly [string, Override, readonly ClauseId[]]>
>;

export function faults(section: string, rows: FaultRows): readonly Patch[] {
  return faultsShownBy("suites", section, rows);
}

/** Faults that only load shows. */
export function loadOnlyFaults(section: string, rows: FaultRows): readonly Patch[] {
  return faultsShownBy("load", section, rows);
}

function faultsShownBy(shownBy: Patch["shownBy"], section: string, rows: FaultRows): readonly Patch[] {
  return Object.entries(rows).map(([name, [breaks, summary, patch, mayBreak = []]]) => ({
    name,
    kind: "fault",
    section,
    summary,
    breaks,
    mayBreak,
    shownBy,
    patch,
  }));
}

export function variants(section: string, rows: VariantRows): readonly Patch[] {
  return Object.entries(rows).map(([name, [summary, patch, notes = []]]) => ({
    name,
    kind: "variant",
    section,
    summary,
    breaks: notes,
    mayBreak: [],
    shownBy: "suites",
    patch,
  }));
}

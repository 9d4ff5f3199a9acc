import type { Coverage } from "../../run/judge/coverage.ts";

/** What the judge of load says of one claim; of one that speaks of a whole set, besides, how much of it was looked at. */
export type JudgeResult = Said & { readonly seen?: Coverage };

type Said =
  | { readonly kind: "holds"; readonly reading: string | null; readonly detail: string }
  /** `witness`: the smallest part of what was seen that proves it, a line each. */
  | { readonly kind: "breach"; readonly expected: string; readonly actual: string; readonly witness: readonly string[] }
  /** The evidence cannot tell. Never a pass. */
  | { readonly kind: "unproven"; readonly reason: string; readonly needs: string | null }
  /** The claim says nothing of this tier. */
  | { readonly kind: "inapplicable"; readonly reason: string }
  /** What the target does where the document is silent, or figures that nothing is promised about. */
  | { readonly kind: "observed"; readonly text: string };

/** A row of a verdict on load. */
export type LoadFinding = JudgeResult & {
  /** `LIM-1/minute-limit`, or `load/slow-refusals` for what the document does not say and a load scenario demands all the same. */
  readonly check: string;
  /** Id of the clause; `null` where the document has none. A breach then fails the scenario, not the document. */
  readonly clause: string | null;
  /** The tier. */
  readonly instance: string | null;
};

export const holds = (detail: string, reading: string | null = null): JudgeResult => ({
  kind: "holds",
  reading,
  detail,
});

export const breach = (expected: string, actual: string, witness: readonly string[] = []): JudgeResult => ({
  kind: "breach",
  expected,
  actual,
  witness:
    witness.length > mostLines
      ? [...witness.slice(0, mostLines - 1), `… ${witness.length - mostLines + 1} more`]
      : witness,
});

export const unproven = (reason: string, needs: string | null = null): JudgeResult => ({
  kind: "unproven",
  reason,
  needs,
});
export const inapplicable = (reason: string): JudgeResult => ({ kind: "inapplicable", reason });
export const observed = (text: string): JudgeResult => ({ kind: "observed", text });

/** A person reads no more. */
const mostLines = 60;

import type { Night } from "../night.ts";

/** Returns a night in which every free text is `text`. A target, or a person who edits the history, could cause such texts. */
export const nightWithText = (night: Night, text: string): Night => ({
  ...night,
  target: { ...night.target, name: text, baseUrl: text },
  suite: { version: text, clauses: text, requirements: text },
  stopped: text,
  findings: night.findings.map((each) => ({
    ...each,
    check: `${each.check}${text}`,
    clause: text,
    instance: text,
    expected: text,
    actual: text,
    reason: text,
  })),
  streaming: (night.streaming ?? []).map((each) => ({ ...each, agent: text })),
  load: night.load.map((each) => ({ ...each, scenario: `${each.scenario}${text}`, tier: text })),
  reported: {
    regressions: night.reported.regressions.map((each) => ({
      says: text,
      check: `${each.check ?? ""}${text}`,
      instance: text,
    })),
    changes: night.reported.changes.map((each) => ({ ...each, scenario: `${each.scenario}${text}`, tier: text })),
  },
});

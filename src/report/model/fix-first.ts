import { type ClauseGroup, groupByClause } from "./clause-groups.ts";
import type { Outcome, Report, ReportFinding } from "./report.ts";

/** What calls for someone to do something, worst first. */
export const worrying = ["fail", "warning", "note"] as const satisfies readonly Outcome[];

const levelOrder = ["must", "load", "should", "advisory"] as const;

/** A broken clause and what kind of outcome its breach has. */
export interface BrokenClause {
  readonly outcome: (typeof worrying)[number];
  readonly group: ClauseGroup;
}

/** Every broken clause: by outcome, then by level, then the one that shows in most places first. */
export const brokenClauses = ({ findings }: Pick<Report, "findings">): BrokenClause[] =>
  worrying.flatMap((outcome) =>
    groupByClause(findings, outcome)
      .toSorted((one, other) => rank(one) - rank(other) || other.findingCount - one.findingCount)
      .map((group) => ({ outcome, group })),
  );

const rank = ({ level }: ClauseGroup): number => levelOrder.findIndex((each) => each === level);

export interface SkippedGroup {
  readonly text: string;
  /** Whether the text is what would enable the checks; otherwise it is why they were skipped. */
  readonly isNeed: boolean;
  readonly findings: readonly ReportFinding[];
}

/** What was skipped, by what would enable it or else by why; the cause of most first. */
export function skippedByCause({ findings }: Pick<Report, "findings">): SkippedGroup[] {
  const skipped = findings.filter(({ outcome }) => outcome === "skipped");
  const groups = Map.groupBy(skipped, ({ needs, reason }) =>
    JSON.stringify([needs ?? null, needs === undefined ? (reason ?? "") : ""]),
  );
  return [...groups.values()]
    .map((members) => {
      const [{ needs, reason = "" } = { reason: "" }] = members;
      return { text: needs ?? reason, isNeed: needs !== undefined, findings: members };
    })
    .toSorted((one, other) => Number(other.isNeed) - Number(one.isNeed) || other.findings.length - one.findings.length);
}

/** Why a client cares, by the first part of a clause's id. */
const byGroup: ReadonlyMap<string, string> = new Map(
  Object.entries({
    SVC: "Clients reach every endpoint through the base address; where it differs, nothing else can be relied on.",
    REQ: "Every client library builds its requests by these common rules, so all of them meet this.",
    AUTH: "Keys are the only door: who is let in, and what a refused client is told, hangs on this.",
    KEY: "Customers hand out restricted keys and trust that they cannot do more.",
    ERR: "Clients decide by status, code and body whether to retry, to repair the request or to give up.",
    INV: "Invoke is the call that every client makes; its answer is parsed by code, not read by people.",
    SSE: "Stream readers act on each event as it comes; one that is missing or malformed hangs or breaks them.",
    HLT: "Monitors and load balancers take agents in and out of service by this answer.",
    LST: "Clients page through agents by these numbers; where they are wrong, agents are lost or seen twice.",
    USE: "Customers steer their spending by this report.",
    WHK: "Without a working webhook a customer learns nothing of what its agents did.",
    HOOK: "Receivers drop, double or distrust deliveries that are not as published.",
    ALR: "An alert that does not fire is noticed only when the limit is hit.",
    OPS: "Clients poll long-running work by this handle and have no other way to its result.",
    BAT: "Clients that submit in batches depend on this form.",
    HDR: "Clients pace themselves by these headers; where they are wrong, they send too much or wait for nothing.",
    LIM: "Customers pay for this allowance, and other customers are protected by it.",
    VER: "Clients tell by the version what they talk to.",
    OTH: "Clients that use this endpoint meet it.",
  }),
);

/** One line on why a breach of a finding's clause matters. */
export function clauseImpact({ clause, level }: Pick<ReportFinding, "clause" | "level">): string {
  if (level === "load") return "No clause states it, but under load a service is of no use without it.";
  return byGroup.get(clause.replace(/-.*/, "")) ?? "Clients are written against this sentence of the document.";
}

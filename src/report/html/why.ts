import type { ReportFinding } from "../report.ts";

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
export function whyOf({ clause, level }: Pick<ReportFinding, "clause" | "level">): string {
  if (level === "load") return "No clause states it, but under load a service is of no use without it.";
  return byGroup.get(clause.replace(/-.*/, "")) ?? "Clients are written against this sentence of the document.";
}

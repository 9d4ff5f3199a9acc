import { sumOf } from "../../base/numbers.ts";
import { need, type SkipReason } from "../skip-reason.ts";
import type { Recorder } from "../send/recorder.ts";
import type { PlannedProbe } from "./plan.ts";

/** Numbers of requests and of agent executions. */
interface Use {
  readonly requests: number;
  readonly executions: number;
}

interface BudgetBounds {
  readonly maxRequests: number;
  /** `null` for no bound. */
  readonly maxExecutions: number | null;
  readonly recorder: Pick<Recorder, "sent" | "executions">;
}

/** The share of the budget that is kept for a running probe: its planned numbers, less what it has sent. */
export interface Reservation {
  /** Called for each request that the probe sends, with the agent executions that the request may start. */
  readonly take: (executions: number) => void;
  readonly release: () => void;
}

/** Divides the requests and executions that a run may cause among its probes. */
export interface RequestBudget {
  /** Returns why the rest of the budget is too small for a probe; `null` if it is large enough. */
  readonly reasonAgainst: (planned: PlannedProbe) => SkipReason | null;
  /** Keeps the planned numbers of a probe from probes that begin later. */
  readonly reserve: (planned: PlannedProbe) => Reservation;
}

export function startRequestBudget({ maxRequests, maxExecutions, recorder }: BudgetBounds): RequestBudget {
  const reserved = new Set<{ requests: number; executions: number }>();
  const leftNow = (): Use => {
    const open = (name: keyof Use): number => sumOf([...reserved].map((each) => Math.max(0, each[name])));
    return {
      requests: maxRequests - recorder.sent() - open("requests"),
      executions: (maxExecutions ?? Infinity) - recorder.executions() - open("executions"),
    };
  };
  return {
    reasonAgainst: (planned) => {
      if (isExempt(planned)) return null;
      if (recorder.sent() >= maxRequests)
        return { reason: { why: "requests used up", most: maxRequests }, needs: need("maxRequests") };
      return mayDropRequests(planned) ? null : reasonOf(planned, leftNow());
    },
    reserve: ({ requests, executions }) => {
      const own = { requests, executions };
      reserved.add(own);
      return {
        take: (started) => {
          own.requests -= 1;
          own.executions -= started;
        },
        release: () => void reserved.delete(own),
      };
    },
  };
}

/** A budget that is never too small. */
export const unlimitedBudget: RequestBudget = {
  reasonAgainst: () => null,
  reserve: () => ({ take: () => {}, release: () => {} }),
};

/** Returns why a probe does not fit into the requests and executions that are left; `null` if it fits. */
export function reasonOf({ requests, executions }: Use, left: Use): SkipReason | null {
  if (requests > left.requests)
    return {
      reason: { why: "too many requests", requests, left: Math.max(0, left.requests) },
      needs: need("maxRequests"),
    };
  if (executions > left.executions)
    return {
      reason: { why: "too many executions", executions, left: Math.max(0, left.executions) },
      needs: need("maxExecutions"),
    };
  return null;
}

/** Whether a probe runs even if the run may send no more requests: it judges earlier requests. */
const isExempt = ({ probe }: PlannedProbe): boolean =>
  probe.stage === "review" || (probe.per === "target" && probe.countsRequests === true);

const mayDropRequests = ({ probe }: PlannedProbe): boolean => probe.per === "target" && probe.mayDropRequests === true;

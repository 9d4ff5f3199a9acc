import { sumOf } from "../../base/numbers.ts";
import { need, type SkipReason } from "../skip-reason.ts";
import type { Recorder } from "../send/recorder.ts";
import type { PlannedProbe } from "./plan.ts";

interface RequestCounts {
  readonly requests: number;
  readonly executions: number;
}

interface BudgetBounds {
  readonly maxRequests: number;
  readonly maxExecutions: number | null;
  readonly recorder: Pick<Recorder, "sent" | "executions">;
}

/** The part of the run's budget that is reserved for a running probe. */
export interface Reservation {
  readonly take: (executions: number) => void;
  readonly release: () => void;
}

/** Divides the run's limits on requests and agent executions among its probes. */
export interface RequestBudget {
  /** Returns a skip reason if a probe needs more than the budget has left; `null` if the budget allows the probe. */
  readonly reasonAgainst: (planned: PlannedProbe) => SkipReason | null;
  /** Reserves requests and executions for a probe, so that other probes cannot use them. */
  readonly reserve: (planned: PlannedProbe) => Reservation;
}

export function startRequestBudget({ maxRequests, maxExecutions, recorder }: BudgetBounds): RequestBudget {
  const reserved = new Set<{ requests: number; executions: number }>();
  const leftNow = (): RequestCounts => {
    const open = (name: keyof RequestCounts): number => sumOf([...reserved].map((each) => Math.max(0, each[name])));
    return {
      requests: maxRequests - recorder.sent() - open("requests"),
      executions: (maxExecutions ?? Infinity) - recorder.executions() - open("executions"),
    };
  };
  return {
    reasonAgainst: (planned) => {
      if (isExemptFromBudget(planned)) return null;
      if (recorder.sent() >= maxRequests)
        return { reason: { why: "requests used up", most: maxRequests }, needs: need("maxRequests") };
      return mayDropRequests(planned) ? null : reasonOverBudget(planned, leftNow());
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

export const unlimitedBudget: RequestBudget = {
  reasonAgainst: () => null,
  reserve: () => ({ take: () => {}, release: () => {} }),
};

export function reasonOverBudget({ requests, executions }: RequestCounts, left: RequestCounts): SkipReason | null {
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

/** A probe that uses earlier requests as evidence runs even after `maxRequests` is reached. */
const isExemptFromBudget = ({ probe }: PlannedProbe): boolean =>
  probe.stage === "review" || (probe.per === "target" && probe.countsRequests === true);

const mayDropRequests = ({ probe }: PlannedProbe): boolean => probe.per === "target" && probe.mayDropRequests === true;

import type { Delivery } from "../../evidence/delivery.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import type { ProbeRun } from "../../run/execute.ts";
import { isDelivery, isExchange } from "../../run/judge.ts";

/** One thing that a server may have done otherwise, in what a run recorded of it. What it does not concern comes back as it is. */
export interface Spoiling {
  readonly exchange?: (exchange: Exchange) => Exchange;
  readonly delivery?: (delivery: Delivery) => Delivery;
}

/**
 * What a run would have recorded of a server that does one thing otherwise: checks are pure, so that the server need not run. What
 * probes would have sent upon it, and what the limiter showed, stays as it was.
 */
export function spoilt(runs: readonly ProbeRun[], { exchange, delivery }: Spoiling): ProbeRun[] {
  const known = new Map<unknown, unknown>();
  const once = <T extends object>(value: T, change: (value: T) => T): unknown => {
    if (!known.has(value)) known.set(value, change(value));
    return known.get(value);
  };
  const within = (value: unknown): unknown => {
    if (typeof value !== "object" || value === null) return value;
    if (isExchange(value)) return exchange === undefined ? value : once(value, exchange);
    if (isDelivery(value)) return delivery === undefined ? value : once(value, delivery);
    return once(value, (inner) =>
      Array.isArray(inner)
        ? inner.map(within)
        : Object.fromEntries(Object.entries(inner).map(([name, each]) => [name, within(each)])),
    );
  };
  return runs.map((run) =>
    run.result.kind === "ran" ? { ...run, result: { kind: "ran", evidence: within(run.result.evidence) } } : run,
  );
}

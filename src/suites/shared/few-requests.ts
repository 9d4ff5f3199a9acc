import { inapplicable } from "../../run/judge/finding.ts";
import { hasFewRequests, type Need } from "../../run/plan/needs.ts";
import { type Probe, probe, type ProbeContext } from "../../run/probe.ts";
import type { Target } from "../../target/target.ts";

export const inapplicableForFewRequests = inapplicable("the key has few requests a minute");

type Options<E, N extends Need> = Parameters<typeof probe<E | null, N>>[1] & {
  readonly requests: number;
  readonly executions?: number;
};

/** Defines a probe that returns `null` and sends nothing if the main key has few requests a minute. */
export const probeIfManyRequests = <E, const N extends Need = never>(
  name: string,
  { requests, executions, ...options }: Options<E, N>,
  run: (context: ProbeContext<N>) => Promise<E | null>,
): Probe<E | null> => {
  const ifMany = (count: number) => (target: Target) => (hasFewRequests(target) ? 0 : count);
  return probe<E | null, N>(
    name,
    {
      ...options,
      requests: ifMany(requests),
      ...(executions === undefined ? {} : { executions: ifMany(executions) }),
      createsFew: {},
    },
    async (context) => (hasFewRequests(context.target) ? null : run(context)),
  );
};

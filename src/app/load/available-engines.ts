import type { EngineName } from "../../load/scenarios.ts";
import { isLoopback, proxyFor } from "../../base/network/network.ts";
import { type Engine, EngineProblem } from "../../load/engine.ts";
import { runAutocannon } from "../../load/engines/autocannon/run.ts";
import { findK6 } from "../../load/engines/k6/binary.ts";
import { runK6 } from "../../load/engines/k6/run.ts";
import { canK6UseCaBundle } from "../../load/engines/k6/command.ts";
import type { SkipText } from "../../run/skip-reason.ts";
import type { Target } from "../../target/target.ts";

export const enginesByName: Readonly<Record<EngineName, Engine>> = { k6: runK6, autocannon: runAutocannon };

/** For each load engine, why it cannot be used on this machine or for the target; `null` for a usable engine. */
export type AvailableEngines = Readonly<Record<EngineName, SkipText | null>>;

export const usableEngineNames = (engines: AvailableEngines): EngineName[] =>
  (["autocannon", "k6"] as const).filter((name) => engines[name] === null);

export async function findEngines(): Promise<AvailableEngines> {
  const problem = await whyNoK6();
  return { autocannon: null, k6: problem === null ? null : { reason: "there is no k6", needs: problem } };
}

export const enginesForTarget = (engines: AvailableEngines, target: Target | null): AvailableEngines => ({
  ...engines,
  k6: engines.k6 ?? (target === null ? null : whyK6CannotReach(target)),
});

function whyK6CannotReach({ network, baseUrl }: Target): SkipText | null {
  if (proxyFor(network, baseUrl) !== null && isLoopback(baseUrl))
    return k6Unusable("k6 sends nothing through a proxy to this machine itself");
  if (network.ca !== null && !canK6UseCaBundle())
    return k6Unusable("k6 cannot be told of authorities of your own here");
  return null;
}

const k6Unusable = (reason: string): SkipText => ({ reason, needs: `${reason}: choose the engine autocannon.` });

async function whyNoK6(): Promise<string | null> {
  try {
    await findK6();
    return null;
  } catch (error) {
    if (error instanceof EngineProblem) return error.message;
    throw error;
  }
}

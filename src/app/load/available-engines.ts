import type { EngineName } from "../../load/scenarios.ts";
import { isLoopback, proxyFor } from "../../base/network/network.ts";
import { type Engine, EngineProblem } from "../../load/engine.ts";
import { runAutocannon } from "../../load/engines/autocannon/run.ts";
import { findK6 } from "../../load/engines/k6/binary.ts";
import { runK6 } from "../../load/engines/k6/run.ts";
import { canTrustCaBundle } from "../../load/engines/k6/command.ts";
import type { SkipText } from "../../run/skip-reason.ts";
import type { Target } from "../../target/target.ts";

export const enginesByName: Readonly<Record<EngineName, Engine>> = { k6: runK6, autocannon: runAutocannon };

export interface AvailableEngines {
  readonly names: readonly EngineName[];
  readonly missing: (engine: EngineName) => SkipText | null;
}

export async function findEngines(): Promise<AvailableEngines> {
  const problem = await whyNoK6();
  return problem === null
    ? { names: ["autocannon", "k6"], missing: () => null }
    : {
        names: ["autocannon"],
        missing: (engine) => (engine === "k6" ? { reason: "there is no k6", needs: problem } : null),
      };
}

export function enginesForTarget({ names, missing }: AvailableEngines, target: Target | null): AvailableEngines {
  const cannot = target === null ? null : whyK6CannotReach(target);
  if (cannot === null) return { names, missing };
  return {
    names: names.filter((name) => name !== "k6"),
    missing: (engine) => missing(engine) ?? (engine === "k6" ? cannot : null),
  };
}

function whyK6CannotReach({ network, baseUrl }: Target): SkipText | null {
  if (proxyFor(network, baseUrl) !== null && isLoopback(baseUrl))
    return k6Unusable("k6 sends nothing through a proxy to this machine itself");
  if (network.ca !== null && !canTrustCaBundle())
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

import type { EngineName } from "../../../scenarios/scenario.ts";
import { type Engine, EngineProblem } from "../../load/engine.ts";
import { runAutocannon } from "../../load/engines/autocannon/run.ts";
import { findK6 } from "../../load/engines/k6/binary.ts";
import { runK6 } from "../../load/engines/k6/run.ts";
import type { SaidLack } from "../../run/lack.ts";

export const engines: Readonly<Record<EngineName, Engine>> = { k6: runK6, autocannon: runAutocannon };

/** Which engines are here; of one that is not, why. */
export interface EnginesHere {
  readonly names: readonly EngineName[];
  readonly missing: (engine: EngineName) => SaidLack | null;
}

/** autocannon comes with the package; k6 is looked for. */
export async function findEngines(): Promise<EnginesHere> {
  const problem = await whyNoK6();
  return problem === null
    ? { names: ["autocannon", "k6"], missing: () => null }
    : {
        names: ["autocannon"],
        missing: (engine) => (engine === "k6" ? { reason: "there is no k6", needs: problem } : null),
      };
}

async function whyNoK6(): Promise<string | null> {
  try {
    await findK6();
    return null;
  } catch (error) {
    if (error instanceof EngineProblem) return error.message;
    throw error;
  }
}

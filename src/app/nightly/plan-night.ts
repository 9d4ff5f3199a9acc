import type { Scenario } from "../../../scenarios/scenario.ts";
import { loadKey, type LoadName } from "../../history/night.ts";
import type { Trial } from "../../load/conduct-trials.ts";
import { UsageProblem } from "../../target/problem.ts";
import type { Target } from "../../target/target.ts";
import { chooseScenarios } from "../load/choice.ts";
import { needsConsent } from "../../cli/loading/confirmation.ts";
import type { EnginesHere } from "../load/engines.ts";
import type { Sending } from "../../cli/loading/load-flags.ts";
import { planLoad } from "../load/plan-load.ts";
import { tiersOfTarget } from "../load/target-ground.ts";

/** Which load a night sends. */
export interface LoadChoice {
  readonly scenarios: readonly Scenario[];
  readonly sending: Sending;
}

/**
 * What a person said of the load; `null` where none is to be sent.
 *
 * @throws {UsageProblem} where the target is somebody's and nobody has agreed to load: a nightly job has nobody to ask
 */
export function readLoadChoice(
  flags: {
    readonly scenario: readonly string[];
    readonly load: boolean;
    readonly engine?: string;
    readonly yes?: boolean;
  },
  target: Target | null,
): LoadChoice | null {
  if (!flags.load) {
    if (flags.scenario.length > 0) throw new UsageProblem("--scenario and --no-load exclude each other.");
    return null;
  }
  if (target !== null && needsConsent(target.baseUrl, flags.yes === true))
    throw new UsageProblem(
      `${target.baseUrl} is not this machine: give --yes if its owner agrees to load every night, or --no-load. Nothing was sent.`,
    );
  const { engine } = flags;
  if (engine !== undefined && engine !== "k6" && engine !== "autocannon")
    throw new UsageProblem(`--engine is ${JSON.stringify(engine)}; there are k6 and autocannon.`);
  return {
    scenarios: chooseScenarios(flags.scenario, false, target !== null),
    sending: { engine: engine ?? null, segments: 1, tier: null, maxRequests: Number.POSITIVE_INFINITY },
  };
}

/** @throws {UsageProblem} where no tier is known, or nothing is left to send */
export const trialsOf = ({ scenarios, sending }: LoadChoice, target: Target | null, engines: EnginesHere) =>
  // Never in turns: what a night is compared with has to be the same load by the same engine.
  planLoad({ scenarios, sending, isMixed: false, engines: engines.names, target }).trials;

/**
 * What can be known to be wrong with the load before anything is sent.
 *
 * @throws {UsageProblem}
 */
export function checkLoad(choice: LoadChoice, target: Target | null, engines: EnginesHere): void {
  const lack = choice.sending.engine === null ? null : engines.missing(choice.sending.engine);
  if (lack !== null) throw new UsageProblem(lack.needs ?? lack.reason);
  if (target === null || tiersOfTarget(target).length > 0) trialsOf(choice, target, engines);
}

/** Those of the trials that have to be sent again. */
export function suspectTrials(trials: readonly Trial[], suspects: readonly LoadName[]): Trial[] {
  const names = new Set(suspects.map(loadKey));
  return trials.filter(({ scenario, tier, engine }) => names.has(loadKey({ scenario: scenario.name, tier, engine })));
}

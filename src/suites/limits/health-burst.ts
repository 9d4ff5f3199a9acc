import { minuteMs } from "../../base/duration.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import { isAdmitted, isRefused, type Sample } from "../../rules/limits/sample.ts";
import { type Check, check } from "../../run/judge/check.ts";
import { breach, type Finding, holds, unproven } from "../../run/judge/finding.ts";
import { tiersUnderTest, type TierUnderTest } from "../../run/plan/needs.ts";
import { probe } from "../../run/probe.ts";
import { agentPath } from "../../run/send/client.ts";
import { need } from "../../run/skip-reason.ts";
import type { Target } from "../../target/target.ts";
import { elapsedSeconds } from "../shared/compare-samples.ts";
import { hasStatus } from "../shared/response.ts";

interface HealthBurst {
  readonly wanted: number | null;
  readonly samples: readonly Sample[];
  readonly again: Exchange | null;
  readonly hasClock: boolean;
}

/** Maximum number of health requests. Without a test clock, more requests would take too long. */
const maxBurst = 250;

const allowanceOf = ({ limits: { perMinute, burst } }: TierUnderTest): number => perMinute + (burst ?? perMinute);

const smallestTier = (target: Target): TierUnderTest | null =>
  tiersUnderTest(target).toSorted((one, other) => allowanceOf(one) - allowanceOf(other))[0] ?? null;

const healthRepeated = probe(
  "health is read more often than a tier allows",
  {
    since: "1.1",
    needs: ["agents.answering"],
    requests: 0,
    executions: 0,
    stage: "coverage",
    keys: (target) => [smallestTier(target)?.key].flatMap((key) => key ?? []),
  },
  async ({ client, given, target }): Promise<HealthBurst> => {
    const tier = smallestTier(target);
    const own = tier === null ? client : client.as(tier.key);
    const agent = given["agents.answering"];
    const wanted = tier === null ? null : Math.min(maxBurst, allowanceOf(tier) + 1);
    const samples: Sample[] = [];
    while (samples.length < (wanted ?? 0) && !samples.some(isRefused))
      samples.push(await own.sample("GET", agentPath(agent, "health")));
    const again = samples.some(isRefused) ? await own.health(agent) : null;
    return { wanted, samples, again, hasClock: target.clock !== null };
  },
);

function judgeBurst({ wanted, samples, again, hasClock }: HealthBurst): Finding<never> {
  if (wanted === null) return unproven("the tier of no key is known", need("tier"));
  const answered = samples.filter(isAdmitted);
  if (again !== null && hasStatus(again, 429))
    return breach("health is not limited", `429 after ${answered.length} health requests within a minute`, again);
  const [first, last] = [answered[0], answered.at(-1)];
  const isQuick =
    first !== undefined && last !== undefined && elapsedSeconds(first, last, hasClock).max * 1000 <= minuteMs;
  if (answered.length < wanted) return unproven(`${answered.length} of ${wanted} health requests got a success`);
  return isQuick ? holds() : unproven("the health requests took longer than a minute");
}

export const healthBurstCheck: Check = check("HLT-15", healthRepeated, judgeBurst, {
  as: "more than a tier allows",
  since: "1.1",
});

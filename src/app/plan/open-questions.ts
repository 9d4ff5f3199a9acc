import type { Target } from "../../target/target.ts";
import type { PlanRow } from "./plan-rows.ts";

/** What a plan cannot know, because it sends nothing: a sentence each. */
export function openQuestions(target: Target, rows: readonly PlanRow[]): string[] {
  const isFound = target.agentSource === "found" && target.agents.answering === undefined;
  const isDelivering = rows.some(({ creates }) => (creates.webhooks ?? 0) + (creates.alerts ?? 0) > 0);
  const tierless = Object.values(target.keys).filter(({ tier, expired }) => tier === null && !expired);
  return [
    ...(isFound
      ? ["Which agent answers, and whether it streams: the run finds one through the list; `--agent` names one."]
      : []),
    ...tierless.map(
      ({ name }) =>
        `The tier of the key \`${name}\`: until its headers show it, the run keeps to the limits of free; \`tier\` in the target file, or \`--tier\`, names it.`,
    ),
    ...(isDelivering && target.webhooks?.isNamed === false
      ? [
          `Whether the target reaches the harness at ${target.webhooks.listen}: nobody said so. Where nothing arrives, what rests on deliveries is skipped; \`webhooks\` in the target file, or \`--receiver-listen\`, says so.`,
        ]
      : []),
    ...(isDelivering && target.clock === null
      ? [
          "How many retries of a delivery fit `--max-wait`: the whole schedule takes 2 h 36 min, and what rests on retries that do not come in that time is skipped; `--watch` waits for them.",
        ]
      : []),
    "What the target refuses with 429 is waited for and sent again, at most twice; requests without a valid key, and health, come on top.",
  ];
}

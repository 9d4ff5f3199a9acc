import type { OpenQuestion } from "../../app/plan/open-questions.ts";
import type { RunPlan } from "../../app/plan/run-plan.ts";
import type { Stage } from "../../run/probe.ts";

/** A plan as the command line says it: what it cannot know is a sentence each. */
export interface FormattedPlan extends Omit<RunPlan, "unknown"> {
  readonly unknown: readonly string[];
}

export const formatQuestions = (plan: RunPlan): FormattedPlan => ({ ...plan, unknown: plan.unknown.map(questionText) });

/** Names of the stages in the output of `plan --json`. They are published, so they never change. */
const publishedStages: Readonly<Record<Stage, string>> = {
  shared: "shared",
  "agent time": "timed",
  exclusive: "alone",
  concurrency: "slots",
  limits: "limits",
  coverage: "visits",
  review: "afterwards",
};

/** A plan in the published form of `plan --json`. */
export const planJson = (plan: FormattedPlan): string =>
  JSON.stringify(
    {
      ...plan,
      probes: plan.probes.map(({ probe, stage, ...row }) => ({ probe, lane: publishedStages[stage], ...row })),
    },
    null,
    2,
  );

function questionText(question: OpenQuestion): string {
  switch (question.kind) {
    case "which agent":
      return "Which agent answers, and whether it streams: the run finds one through the list; `--agent` names one.";
    case "tier of a key":
      return `The tier of the key \`${question.key}\`: until its headers show it, the run keeps to the limits of free; \`tier\` in the target file, or \`--tier\`, names it.`;
    case "reach of the receiver":
      return `Whether the target reaches the harness at ${question.listen}: nobody said so. Where nothing arrives, what rests on deliveries is skipped; \`webhooks\` in the target file, or \`--receiver-listen\`, says so.`;
    case "retries":
      return "How many retries of a delivery fit `--max-wait`: the whole schedule takes 2 h 36 min, and what rests on retries that do not come in that time is skipped; `--watch` waits for them.";
    case "reading usage counts":
      return `Whether reading usage draws on the allowance: where it does, it fills the windows that are used up; else invokes do, which are up to ${question.executions} agent executions more.`;
    case "more requests":
      return "What the target refuses with 429 is waited for and sent again, at most twice; requests without a valid key, and health, come on top.";
  }
}

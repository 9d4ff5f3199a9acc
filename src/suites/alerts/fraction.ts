import type { Exchange } from "../../evidence/exchange.ts";
import { check, type EvidenceOf } from "../../run/judge/check.ts";
import { breach, type Finding, holds, inapplicable, unproven } from "../../run/judge/finding.ts";
import { hasFewRequests } from "../../run/plan/needs.ts";
import { probe } from "../../run/probe.ts";
import { describeStatus, hasStatus, isSuccess, outcomeOf } from "../shared/response.ts";
import { alertCrossed } from "./probes.ts";

/** A threshold in percent that is no whole number. The document allows any number. */
const fraction = 82.5;

/** Creates an alert with this threshold. Returns `null` if the key has few requests a minute. */
export const fractionalAlertCreated = probe(
  `an alert with a threshold of ${fraction} is created`,
  {
    needs: ["receiver"],
    requests: (target) => (hasFewRequests(target) ? 0 : 1),
    stage: "exclusive",
    after: [alertCrossed],
    creates: { alerts: 1 },
    createsFew: {},
    since: "1.2",
  },
  async ({ client, given, target }): Promise<Exchange | null> => {
    if (hasFewRequests(target)) return null;
    const { url } = given.receiver.open("alert-fraction", { secret: null, replies: [{ kind: "status", status: 204 }] });
    return client.send("POST", "/alerts", { json: { type: "rate_limit", threshold: fraction, webhook_url: url } });
  },
);

const wholeAndFractional = { whole: alertCrossed, created: fractionalAlertCreated };

/** Statuses by which a target may say that the key has too many alerts. */
const quotaStatuses = [402, 403, 409, 429] as const;

function judgeFraction({ whole, created }: EvidenceOf<typeof wholeAndFractional>): Finding<never> {
  if (created === null) return inapplicable("the key has few requests a minute");
  if (!isSuccess(whole.created)) return unproven("no alert was created (ALR-1)");
  if (isSuccess(created)) return holds();
  return hasStatus(created, ...quotaStatuses) || created.answer.kind !== "answered"
    ? unproven(`the alert was not created (${outcomeOf(created)})`)
    : breach(`a \`threshold\` of ${fraction} is accepted`, describeStatus(created), created, whole.created);
}

/** Judges that a threshold may be any number. */
export const fractionCheck = check("ALR-1", wholeAndFractional, judgeFraction, { as: "fraction", since: "1.2" });

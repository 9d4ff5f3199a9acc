import { rounded } from "../../base/numbers.ts";
import { deliveryHeaderValues, deliveryJson, type Delivery } from "../../evidence/delivery.ts";
import { getPath } from "../../base/json.ts";
import { type Exchange, sentJson } from "../../evidence/exchange.ts";
import { headerNames } from "../../spec/headers.ts";
import { check, type EvidenceOf, observe, suite } from "../../run/judge/check.ts";
import { breach, type Finding, follows, holds, inapplicable, observed, unproven } from "../../run/judge/finding.ts";
import { needsMoreTime, need, type SkipCause } from "../../run/skip-reason.ts";
import { type AlertCrossingEvidence, alertCrossed, alertIdOf, oddAlertsCreated, openAlertHook } from "./probes.ts";
import { rejectedReceiverAddress } from "../shared/acceptance.ts";
import {
  describeResponse,
  describeStatus,
  describeVerdict,
  fieldNamesOf,
  hasStatus,
  isSuccess,
  outcomeOf,
} from "../shared/response.ts";
import { successesOn } from "../shared/key-requests/send-requests.ts";
import { inapplicableForFewRequests, probeIfManyRequests } from "../shared/few-requests.ts";

/**
 * A missing alert message counts as a breach only after this wait. A target is allowed to check alerts once a minute.
 */
const minWaitMs = 60_000;

const percent = (value: number): string => `${rounded(value, 1)} %`;

const outOfTime: SkipCause = {
  why: "no time left to",
  consequence: "the threshold was not crossed",
  purpose: "send so many requests",
};

/** A threshold with decimals, in percent. The document allows any number. */
const fraction = 82.5;

const oneAlert = { needs: ["receiver"], requests: 1, stage: "exclusive", creates: { alerts: 1 } } as const;

const fractionalAlertCreated = probeIfManyRequests(
  `an alert with a threshold of ${fraction} is created`,
  { ...oneAlert, after: [alertCrossed], since: "1.2" },
  async ({ client, given }): Promise<Exchange> => {
    const { url } = openAlertHook(given.receiver, "alert-fraction");
    return client.send("POST", "/alerts", { json: { type: "rate_limit", threshold: fraction, webhook_url: url } });
  },
);

/** Creates another alert with the key of the run's first alert. Success shows that a key may have several alerts. */
export const secondAlertCreated = probeIfManyRequests(
  "a second usage alert is created with the key of the first",
  { ...oneAlert, after: [alertCrossed, fractionalAlertCreated], since: "1.1" },
  async ({ client, given, recorder, target }): Promise<Exchange | null> => {
    const first = recorder
      .exchangesSinceOutage()
      .find((each) => each.request.url.endsWith("/alerts") && isSuccess(each));
    const key = Object.values(target.keys).find(({ name }) => name === first?.key);
    if (key === undefined) return null;
    const { url } = openAlertHook(given.receiver, "alert-second");
    const json = { type: "rate_limit", threshold: 98, webhook_url: url };
    return client.as(key).send("POST", "/alerts", { json });
  },
);

const wholeAndFractional = { whole: alertCrossed, created: fractionalAlertCreated, second: secondAlertCreated };

const quotaStatuses = [402, 403, 409, 429] as const;

function judgeFraction({ whole, created, second }: EvidenceOf<typeof wholeAndFractional>): Finding<never> {
  if (created === null) return inapplicableForFewRequests;
  if (!isSuccess(whole.created)) return unproven("no alert was created (ALR-1)");
  if (isSuccess(created)) return holds();
  return hasStatus(created, ...quotaStatuses) ||
    created.answer.kind !== "answered" ||
    second === null ||
    !isSuccess(second)
    ? unproven(`the alert was not created (${outcomeOf(created)})`)
    : breach(`a \`threshold\` of ${fraction} is accepted`, describeStatus(created), created, whole.created);
}

interface AlertRepeated {
  readonly first: Exchange;
  readonly again: Exchange;
}

const alertCreatedAtSameAddress = probeIfManyRequests(
  "a second alert with the same `webhook_url` is created",
  { ...oneAlert, after: [alertCrossed, fractionalAlertCreated], since: "1.2" },
  async (context): Promise<AlertRepeated | null> => {
    const first = successesOn(context, "alerts").at(-1);
    if (first === undefined) return null;
    const json = { type: "rate_limit", threshold: 97, webhook_url: getPath(sentJson(first.request), "webhook_url") };
    return { first, again: await context.client.send("POST", "/alerts", { json }) };
  },
);

/** Only a crash (500) is a breach, because a target may refuse a second alert with the same `webhook_url`. */
function judgeSameAddress(alert: AlertRepeated | null): Finding<never> {
  if (alert === null) return inapplicable("no alert was created with the key, or the key has few requests a minute");
  const { first, again } = alert;
  if (isSuccess(again)) return holds();
  return hasStatus(again, 500)
    ? breach("no 500 for a second alert with the same `webhook_url`", describeStatus(again), first, again)
    : unproven(`the second alert was not created (${outcomeOf(again)})`);
}

export const alerts = suite("Usage alerts", [
  check("ALR-1", alertCrossed, ({ created, unreached }) => {
    if (hasStatus(created, 429)) return unproven("a limit refused the request (429)");
    if (hasStatus(created, 201)) return follows("answers-201");
    if (hasStatus(created, 200)) return follows("answers-200");
    if (isSuccess(created)) return follows("answers-2xx");
    return rejectedReceiverAddress(created, unreached === null) ?? breach("a success", outcomeOf(created), created);
  }),
  check("ALR-1", wholeAndFractional, judgeFraction, { as: "fraction", since: "1.2" }),
  check("ALR-1", alertCreatedAtSameAddress, judgeSameAddress, { as: "same address", since: "1.2" }),
  observe("ALR-2", alertCrossed, ({ created }) =>
    isSuccess(created)
      ? observed(`${describeResponse(created)}; ${describeId(created)}`)
      : unproven(`no alert was created (${outcomeOf(created)})`),
  ),
  check("ALR-3", alertCrossed, (evidence) => {
    const { created, threshold, crossing, before, after, waitedMs, unreached } = evidence;
    if (!isSuccess(created)) return unproven("no alert was created (ALR-1)");
    if (crossing.kind === "not crossed") return unproven(`the threshold was not crossed: ${crossing.reason}`);
    if (crossing.kind === "out of time") return unproven(outOfTime);
    if (after.length > 0) return holds();
    if (unreached !== null) return unproven(unreached, need("receiver within reach"));
    if (waitedMs < minWaitMs)
      return unproven(
        `no message arrived within ${Math.round(waitedMs / 1000)} s: the target may look for alerts once a minute`,
        needsMoreTime,
      );
    const { fromPercent, toPercent } = crossing;
    return breach(
      `a message to \`webhook_url\` once usage has gone from ${percent(fromPercent)} to ${percent(toPercent)}, above the threshold of ${threshold} %`,
      before.length > 0 ? `nothing but ${before.length} before that` : "nothing",
      created,
      ...before,
    );
  }),
  observe("ALR-4", alertCrossed, ({ before, after }: AlertCrossingEvidence) => {
    const [message] = after.length > 0 ? after : before;
    return message === undefined ? unproven("no message reached the receiver") : observed(describeMessage(message));
  }),
  observe("ALR-5", oddAlertsCreated, ({ beyond, unknownType }) =>
    observed(`a threshold of 150: ${describeVerdict(beyond)}; an unknown type: ${describeVerdict(unknownType)}`),
  ),
]);

function describeMessage(message: Delivery): string {
  const isSigned = deliveryHeaderValues(message, headerNames.deliverySignature).length > 0;
  return `${message.request.method} with ${fieldNamesOf(deliveryJson(message))}, ${isSigned ? "signed" : "not signed"}`;
}

const describeId = (created: Exchange): string => (alertIdOf(created) === null ? "it has no id" : "it has an id");

import type { SentDelivery } from "../../run/party-session.ts";
import { check, observe, suite, type Suite } from "../../run/judge/check.ts";
import { breach, type Finding, holds, observed, unproven } from "../../run/judge/finding.ts";
import { deliveryPolicy } from "../../spec/events.ts";
import { hasStatus, isSuccess, outcomeOf } from "../shared/response.ts";
import {
  controlDelivered,
  duplicatesDelivered,
  formsDelivered,
  largeDelivered,
  manyDelivered,
  piecesDelivered,
  typesDelivered,
  undeployedDelivered,
  unknownFieldsDelivered,
  unknownTypeDelivered,
  unsignedDelivered,
  upperCaseDelivered,
  wronglySignedDelivered,
} from "./probes.ts";

type SentDeliveries = readonly SentDelivery[];

const isAccepted = ({ exchange }: SentDelivery): boolean => isSuccess(exchange);

const isUnreachable = ({ exchange: { answer } }: SentDelivery): boolean =>
  answer.kind === "unanswered" && answer.reason === "unreachable";

const describe = ({ what, exchange }: SentDelivery): string => `${what}: ${outcomeOf(exchange)}`;

/** Judges that each delivery got a reply of the right kind. `unproven` if one found no connection. */
function judgeEach(sent: SentDeliveries, expected: string, isRight: (each: SentDelivery) => boolean): Finding<never> {
  const lost = sent.find(isUnreachable);
  if (lost !== undefined) return unproven(`a delivery found no connection (${describe(lost)})`);
  const wrong = sent.filter((each) => !isRight(each));
  if (wrong.length === 0) return holds();
  return breach(expected, wrong.map(describe).join("; "), ...wrong.map(({ exchange }) => exchange));
}

/** Calls `judge` if the receiver accepted the positive control. Otherwise its replies prove nothing. */
function judgeAfterControl<R>(control: SentDeliveries, judge: () => R) {
  const refused = control.find((each) => !isAccepted(each));
  return refused === undefined
    ? judge()
    : unproven(`a plain delivery with the right signature was not accepted (${describe(refused)})`);
}

type Controlled<E> = { readonly control: SentDeliveries; readonly tried: E };

const accepted =
  (expected: string) =>
  ({ control, tried }: Controlled<SentDeliveries>): Finding<never> =>
    judgeAfterControl(control, () => judgeEach(tried, expected, isAccepted));

const oneAccepted =
  (expected: string) =>
  ({ control, tried }: Controlled<SentDelivery>): Finding<never> =>
    accepted(expected)({ control, tried: [tried] });

const is4xx = ({ exchange: { answer } }: SentDelivery): boolean =>
  answer.kind === "answered" && answer.status >= 400 && answer.status < 500;

const control = controlDelivered;

const acceptanceChecks = [
  check("RCV-1", control, (sent) => judgeEach(sent, "a rightly signed delivery answers 2xx", isAccepted)),
  check("RCV-2", { control, tried: formsDelivered }, accepted("a right signature is accepted over any JSON text")),
  check(
    "RCV-3",
    { control, tried: undeployedDelivered },
    oneAccepted("a delivery without `deployment_id` answers 2xx"),
  ),
  check("RCV-4", { control, tried: unknownFieldsDelivered }, oneAccepted("unknown fields are accepted")),
  check("RCV-5", { control, tried: typesDelivered }, accepted("each event type is accepted")),
];

const refusalChecks = [
  check("RCV-6", { control, tried: wronglySignedDelivered }, ({ control: right, tried }) =>
    judgeAfterControl(right, () =>
      judgeEach(tried, "a signature that does not match answers 401", ({ exchange }) => hasStatus(exchange, 401)),
    ),
  ),
  check("RCV-7", { control, tried: unsignedDelivered }, ({ control: right, tried }) =>
    judgeAfterControl(right, () =>
      judgeEach([tried], "a delivery without a signature is refused with a 4xx status", is4xx),
    ),
  ),
  check("RCV-8", { control, tried: unsignedDelivered }, ({ control: right, tried }) =>
    judgeAfterControl(right, () =>
      is4xx(tried)
        ? judgeEach([tried], "a delivery without a signature answers 401", ({ exchange }) => hasStatus(exchange, 401))
        : unproven("the delivery without a signature was not refused with a 4xx status"),
    ),
  ),
];

/** Whether the receiver replied in time, with any status. Another clause judges a refusal. */
const isInTime = ({ exchange: { answer, sentMs } }: SentDelivery): boolean =>
  answer.kind !== "answered" || answer.headMs - sentMs <= deliveryPolicy.responseTimeoutMs;

const adviceChecks = [
  check("RCV-9", { control, forms: formsDelivered, types: typesDelivered }, ({ control: right, forms, types }) =>
    judgeAfterControl(right, () =>
      judgeEach(
        [...right, ...forms, ...types].filter(isAccepted),
        `the status arrives within ${deliveryPolicy.responseTimeoutMs / 1000} s`,
        isInTime,
      ),
    ),
  ),
  check("RCV-10", { control, tried: duplicatesDelivered }, accepted("an event that comes again answers 2xx each time")),
];

const observeOne = ({ control: right, tried }: Controlled<SentDelivery>) =>
  judgeAfterControl(right, () => observed(describe(tried)));

const observeAll = ({ control: right, tried }: Controlled<SentDeliveries>) =>
  judgeAfterControl(right, () => observed(tried.map(describe).join("; ")));

/** Describes how often each outcome occurred among concurrent deliveries: `20 of 20: 200`. */
function countOutcomes(sent: SentDeliveries): string {
  const counts = Map.groupBy(sent, ({ exchange }) => outcomeOf(exchange));
  return [...counts].map(([outcome, { length }]) => `${length} of ${sent.length}: ${outcome}`).join("; ");
}

const observationChecks = [
  observe("RCV-11", { control, tried: upperCaseDelivered }, observeOne),
  observe("RCV-12", { control, tried: unknownTypeDelivered }, observeOne),
  observe("RCV-13", { control, tried: largeDelivered }, observeOne),
  observe("RCV-14", { control, tried: piecesDelivered }, observeAll),
  observe("RCV-15", { control, tried: manyDelivered }, ({ control: right, tried }) =>
    judgeAfterControl(right, () => observed(countOutcomes(tried))),
  ),
];

export const receiverSuite: Suite = suite("Receiving deliveries", [
  ...acceptanceChecks,
  ...refusalChecks,
  ...adviceChecks,
  ...observationChecks,
]);

import type { SentDelivery } from "../../run/party-session.ts";
import { check, observe, suite, type Suite, type EvidenceOf } from "../../run/judge/check.ts";
import { breach, type Finding, holds, observed, unproven } from "../../run/judge/finding.ts";
import { deliveryPolicy } from "../../spec/events-and-errors.ts";
import { hasStatus, isSuccess, outcomeOf } from "../shared/response.ts";
import {
  controlDelivered,
  duplicatesDelivered,
  formsDelivered,
  largeDelivered,
  manyDelivered,
  deliveredInPieces,
  typesDelivered,
  deliveredWithoutDeploymentId,
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

function judgeEach(sent: SentDeliveries, expected: string, isRight: (each: SentDelivery) => boolean): Finding<never> {
  const unreached = sent.find(isUnreachable);
  if (unreached !== undefined) return unproven(`a delivery found no connection (${describe(unreached)})`);
  const wrong = sent.filter((each) => !isRight(each));
  if (wrong.length === 0) return holds();
  return breach(expected, wrong.map(describe).join("; "), ...wrong.map(({ exchange }) => exchange));
}

/** Wraps a judge function. The finding is unproven unless the receiver accepts plain, correctly signed deliveries. */
const afterControl =
  <E, R>(judge: (evidence: E) => R) =>
  (evidence: E & { readonly control: SentDeliveries }) => {
    const refused = evidence.control.find((each) => !isAccepted(each));
    return refused === undefined
      ? judge(evidence)
      : unproven(`a plain delivery with the right signature was not accepted (${describe(refused)})`);
  };

interface Tried {
  readonly tried: SentDelivery | SentDeliveries;
}

const answered = (expected: string, isRight: (each: SentDelivery) => boolean) =>
  afterControl(({ tried }: Tried) => judgeEach([tried].flat(), expected, isRight));

const accepted = (expected: string) => answered(expected, isAccepted);

const got401 = ({ exchange }: SentDelivery): boolean => hasStatus(exchange, 401);

const is4xx = ({ exchange: { answer } }: SentDelivery): boolean =>
  answer.kind === "answered" && answer.status >= 400 && answer.status < 500;

/** Whether the status arrived within `responseTimeoutMs`. Other clauses judge which status it is. */
const isInTime = ({ exchange: { answer, sentMs } }: SentDelivery): boolean =>
  answer.kind !== "answered" || answer.headMs - sentMs <= deliveryPolicy.responseTimeoutMs;

const observeReplies = afterControl(({ tried }: Tried) => observed([tried].flat().map(describe).join("; ")));

function describeOutcomes(sent: SentDeliveries): string {
  const counts = Map.groupBy(sent, ({ exchange }) => outcomeOf(exchange));
  return [...counts].map(([outcome, { length }]) => `${length} of ${sent.length}: ${outcome}`).join("; ");
}

const control = controlDelivered;
const timedProbes = { control, forms: formsDelivered, types: typesDelivered };
const unsignedProbes = { control, tried: unsignedDelivered };

export const receiverSuite: Suite = suite("Receiving deliveries", [
  check("RCV-1", control, (sent) => judgeEach(sent, "a rightly signed delivery answers 2xx", isAccepted)),
  check("RCV-2", { control, tried: formsDelivered }, accepted("a right signature is accepted over any JSON text")),
  check(
    "RCV-3",
    { control, tried: deliveredWithoutDeploymentId },
    accepted("a delivery without `deployment_id` answers 2xx"),
  ),
  check("RCV-4", { control, tried: unknownFieldsDelivered }, accepted("unknown fields are accepted")),
  check("RCV-5", { control, tried: typesDelivered }, accepted("each event type is accepted")),
  check(
    "RCV-6",
    { control, tried: wronglySignedDelivered },
    answered("a signature that does not match answers 401", got401),
  ),
  check("RCV-7", unsignedProbes, answered("a delivery without a signature is refused with a 4xx status", is4xx)),
  check(
    "RCV-8",
    unsignedProbes,
    afterControl(({ tried }: EvidenceOf<typeof unsignedProbes>) =>
      is4xx(tried)
        ? judgeEach([tried], "a delivery without a signature answers 401", got401)
        : unproven("the delivery without a signature was not refused with a 4xx status"),
    ),
  ),
  check(
    "RCV-9",
    timedProbes,
    afterControl(({ control: right, forms, types }: EvidenceOf<typeof timedProbes>) =>
      judgeEach(
        [...right, ...forms, ...types].filter(isAccepted),
        `the status arrives within ${deliveryPolicy.responseTimeoutMs / 1000} s`,
        isInTime,
      ),
    ),
  ),
  check("RCV-10", { control, tried: duplicatesDelivered }, accepted("an event that comes again answers 2xx each time")),
  observe("RCV-11", { control, tried: upperCaseDelivered }, observeReplies),
  observe("RCV-12", { control, tried: unknownTypeDelivered }, observeReplies),
  observe("RCV-13", { control, tried: largeDelivered }, observeReplies),
  observe("RCV-14", { control, tried: deliveredInPieces }, observeReplies),
  observe(
    "RCV-15",
    { control, tried: manyDelivered },
    afterControl(({ tried }: { readonly tried: SentDeliveries }) => observed(describeOutcomes(tried))),
  ),
]);

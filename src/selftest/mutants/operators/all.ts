import type { CleanRun } from "../clean-run.ts";
import { bodyBearer, deliveryBearer, eventBearers } from "../bearers.ts";
import type { Mutant } from "../mutant.ts";
import { type Place, placesIn } from "../places.ts";
import { answersMutants } from "./several-answers.ts";
import { deliveriesMutants } from "./several-deliveries.ts";
import { bodyMutants, declaredMutants, headerSpellingMutants, writtenMutants } from "./bodies.ts";
import { deliveriesToSpoil, deliveryMutants } from "./deliveries.ts";
import { errorMutants } from "./errors.ts";
import { fieldMutants, unknownFieldMutants } from "./fields.ts";
import { rateHeaderMutants } from "./rate-headers.ts";
import { streamMutants } from "./streams.ts";

/** Every mutant of a clean run. */
export const mutantsOf = (run: CleanRun): Mutant[] => [
  ...answersMutants(run),
  ...deliveriesMutants(run),
  ...placesIn(run).flatMap(answerMutants),
  ...deliveriesToSpoil(run).flatMap((delivery) => {
    const bearer = deliveryBearer(delivery);
    return [...(bearer === null ? [] : bearerMutants(bearer)), ...deliveryMutants(delivery, run)];
  }),
];

function answerMutants(place: Place): Mutant[] {
  const body = bodyBearer(place);
  return [
    ...rateHeaderMutants(place),
    ...headerSpellingMutants(place),
    ...declaredMutants(place),
    ...(body === null ? [] : [...bearerMutants(body), ...bodyMutants(place, body)]),
    ...eventBearers(place).flatMap(bearerMutants),
    ...streamMutants(place),
    ...errorMutants(place),
  ];
}

const bearerMutants = (bearer: Parameters<typeof fieldMutants>[0]): Mutant[] => [
  ...fieldMutants(bearer),
  ...unknownFieldMutants(bearer),
  ...writtenMutants(bearer),
];

import type { CleanRun } from "../clean-run.ts";
import { bodyMessage, deliveryMessage, eventMessages } from "../messages.ts";
import type { Mutant } from "../mutant.ts";
import { type MutationSite, mutationSites } from "../mutation-sites.ts";
import { answersMutants } from "./across-responses.ts";
import { deliveriesMutants } from "./across-deliveries.ts";
import { bodyMutants, declaredMutants, headerSpellingMutants, writtenMutants, errorMutants } from "./bodies.ts";
import { deliveriesToMutate, deliveryMutants } from "./deliveries.ts";
import { fieldMutants, unknownFieldMutants } from "./fields.ts";
import { rateHeaderMutants } from "./rate-headers.ts";
import { streamMutants } from "./streams.ts";

/** Every mutant of a clean run. */
export const mutantsOf = (run: CleanRun): Mutant[] => [
  ...answersMutants(run),
  ...deliveriesMutants(run),
  ...mutationSites(run).flatMap(answerMutants),
  ...deliveriesToMutate(run).flatMap((delivery) => {
    const bearer = deliveryMessage(delivery);
    return [...(bearer === null ? [] : bearerMutants(bearer)), ...deliveryMutants(delivery, run)];
  }),
];

function answerMutants(place: MutationSite): Mutant[] {
  const body = bodyMessage(place);
  return [
    ...rateHeaderMutants(place),
    ...headerSpellingMutants(place),
    ...declaredMutants(place),
    ...(body === null ? [] : [...bearerMutants(body), ...bodyMutants(place, body)]),
    ...eventMessages(place).flatMap(bearerMutants),
    ...streamMutants(place),
    ...errorMutants(place),
  ];
}

const bearerMutants = (bearer: Parameters<typeof fieldMutants>[0]): Mutant[] => [
  ...fieldMutants(bearer),
  ...unknownFieldMutants(bearer),
  ...writtenMutants(bearer),
];

import type { CleanRun } from "../clean-run.ts";
import { bodyMessage, deliveryMessage, eventMessages, type MutableMessage } from "../messages.ts";
import type { Mutant } from "../mutant.ts";
import { type MutationSite, mutationSites } from "../mutation-sites.ts";
import { acrossResponses } from "./across-responses.ts";
import { acrossDeliveries } from "./across-deliveries.ts";
import { bodyMutants, contentTypeMutants, headerSpellingMutants, writtenMutants, errorMutants } from "./bodies.ts";
import { deliveriesToMutate, deliveryMutants } from "./deliveries.ts";
import { fieldMutants, unknownFieldMutants } from "./fields.ts";
import { rateHeaderMutants } from "./rate-headers.ts";
import { streamMutants } from "./streams.ts";

/** Every mutant of a clean run. */
export const mutantsOf = (run: CleanRun): Mutant[] => [
  ...acrossResponses(run),
  ...acrossDeliveries(run),
  ...mutationSites(run).flatMap(responseMutants),
  ...deliveriesToMutate(run).flatMap((delivery) => {
    const message = deliveryMessage(delivery);
    return [...(message === null ? [] : messageMutants(message)), ...deliveryMutants(delivery, run)];
  }),
];

function responseMutants(site: MutationSite): Mutant[] {
  const body = bodyMessage(site);
  return [
    ...rateHeaderMutants(site),
    ...headerSpellingMutants(site),
    ...contentTypeMutants(site),
    ...(body === null ? [] : [...messageMutants(body), ...bodyMutants(site)]),
    ...eventMessages(site).flatMap(messageMutants),
    ...streamMutants(site),
    ...errorMutants(site),
  ];
}

const messageMutants = (message: MutableMessage): Mutant[] => [
  ...fieldMutants(message),
  ...unknownFieldMutants(message),
  ...writtenMutants(message),
];

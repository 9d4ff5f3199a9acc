import { createRequire } from "node:module";

import { z } from "zod";

import { measureTime, type Measurement } from "../measuring/measurement.ts";

const requestsSchema = z.object({
  url: z.string(),
  method: z.enum(["GET", "POST"]),
  headers: z.record(z.string(), z.string()),
  body: z.string(),
  connections: z.int(),
  amount: z.int(),
});

export type RepeatedRequest = z.infer<typeof requestsSchema>;

/** The part of autocannon's API that the bench uses. The published types are outdated. */
type Autocannon = (
  options: RepeatedRequest & { readonly sampleInt: number },
) => Promise<{ readonly "2xx": number; readonly non2xx: number; readonly errors: number }>;

/** How often autocannon checks whether it is done. With the default, a second, it would end up to a second late. */
const checkEveryMs = 20;

const autocannon = createRequire(import.meta.url)("autocannon") as Autocannon;

export async function run(input: unknown): Promise<Measurement> {
  const requests = requestsSchema.parse(input);
  return measureTime(async () => {
    const { "2xx": fine, non2xx, errors } = await autocannon({ ...requests, sampleInt: checkEveryMs });
    if (non2xx + errors > 0 || fine < requests.amount)
      throw new Error(`of ${requests.amount} requests ${non2xx} had another answer, and ${errors} none`);
  });
}

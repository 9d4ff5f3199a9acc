import { z } from "zod";

import { startReference } from "../../src/reference/reference.ts";

const toldSchema = z.object({ servers: z.int() });

/** So many reference servers on the machine's clock, each on a port of its own; all of them have the same key of the tier Team. */
export async function start(told: unknown) {
  const { servers } = toldSchema.parse(told);
  const started = await Promise.all(Array.from({ length: servers }, () => startReference()));
  const keys = started.map((reference) => reference.issueKey("team").key);
  const urls = started.map(({ baseUrl }) => baseUrl);
  return { url: urls[0] ?? "", key: keys[0] ?? "", urls };
}

import { z } from "zod";

import { startReference } from "../../src/reference/reference.ts";

const optionsSchema = z.object({ servers: z.int() });

/**
 * Starts several reference servers with real clocks. All servers issue the same key text, because each server numbers
 * its keys from 1.
 */
export async function start(options: unknown) {
  const { servers } = optionsSchema.parse(options);
  const started = await Promise.all(Array.from({ length: servers }, () => startReference()));
  const keys = started.map((reference) => reference.issueKey("team").key);
  const urls = started.map(({ baseUrl }) => baseUrl);
  return { url: urls[0] ?? "", key: keys[0] ?? "", urls };
}

import { z } from "zod";

export const tookSchema = z.object({
  wallMs: z.number(),
  cpuMs: z.number(),
  bytes: z.number().nullable(),
});

/**
 * What one go of a side took. `cpuMs` is processor time: of every process of the side, or of the one that the row speaks of. `bytes` is the memory
 * that a row of memory speaks of; `null` where it was not looked at.
 */
export type Took = Readonly<z.infer<typeof tookSchema>>;

import { z } from "zod";

export const measurementSchema = z.object({
  wallMs: z.number(),
  cpuMs: z.number(),
  bytes: z.number().nullable(),
});

/**
 * One measurement of a row's subject or baseline. `cpuMs` is the CPU time of all its processes, or only of the process
 * that the row measures. `bytes` is memory; `null` in rows that measure no memory.
 */
export type Measurement = Readonly<z.infer<typeof measurementSchema>>;

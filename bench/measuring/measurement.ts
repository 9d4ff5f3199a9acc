import { z } from "zod";

export const measurementSchema = z.object({
  wallMs: z.number(),
  cpuMs: z.number(),
  bytes: z.number().nullable(),
});

/** One run of a side. `cpuMs` is the CPU time of its processes, or of the one that the row measures. `bytes` is memory, in rows that measure it. */
export type Measurement = Readonly<z.infer<typeof measurementSchema>>;

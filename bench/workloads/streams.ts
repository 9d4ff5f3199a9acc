import { Pool } from "undici";
import { z } from "zod";

import { measureTime, type Measurement } from "../measuring/measurement.ts";

const streamsSchema = z.object({
  url: z.string(),
  path: z.string(),
  headers: z.record(z.string(), z.string()),
  body: z.string(),
  atOnce: z.int(),
  amount: z.int(),
  bytes: z.int(),
});

export type StreamReads = z.infer<typeof streamsSchema>;

export async function run(input: unknown): Promise<Measurement> {
  const { url, path, headers, body, atOnce, amount, bytes } = streamsSchema.parse(input);
  const pool = new Pool(url, { connections: atOnce });
  let left = amount;
  const reader = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const answer = await pool.request({ method: "POST", path, headers, body });
      let read = 0;
      for await (const chunk of answer.body as AsyncIterable<Buffer>) read += chunk.length;
      if (answer.statusCode !== 200 || read < bytes)
        throw new Error(`a stream was answered ${answer.statusCode} and ended after ${read} bytes`);
    }
  };
  const took = await measureTime(() => Promise.all(Array.from({ length: atOnce }, reader)));
  await pool.close();
  return took;
}

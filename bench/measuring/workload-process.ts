import { once } from "node:events";

import { messageOf } from "../../src/base/errors.ts";
import type { Measurement } from "./measurement.ts";

// Runs one workload in a child process, and sends the measurement or an error message to the parent.

const [, , url = ""] = process.argv;
const [{ input }] = (await once(process, "message")) as [{ readonly input: unknown }];
const { run } = (await import(url)) as { readonly run: (input: unknown) => Promise<Measurement> };
process.send?.(await run(input).catch((error: unknown) => ({ failed: messageOf(error) })));
process.disconnect();

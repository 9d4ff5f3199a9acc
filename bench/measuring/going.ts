import { once } from "node:events";

import { messageOf } from "../../src/base/errors.ts";
import type { Took } from "./took.ts";

// The process of one go: it takes its input from the channel, and says what the go took, or why there was none.

const [, , url = ""] = process.argv;
const [{ input }] = (await once(process, "message")) as [{ readonly input: unknown }];
const { go } = (await import(url)) as { readonly go: (input: unknown) => Promise<Took> };
process.send?.(await go(input).catch((error: unknown) => ({ failed: messageOf(error) })));
process.disconnect();

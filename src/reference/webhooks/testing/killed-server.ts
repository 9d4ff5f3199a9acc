import { startReference, virtualClock } from "../../reference.ts";

// A server on a virtual clock that keeps its state in a folder: a process of its own, to be killed.
const [folder = ""] = process.argv.slice(2);
const { baseUrl } = await startReference({ clock: virtualClock(), dataFolder: folder });
process.stdout.write(`${baseUrl}\n`);

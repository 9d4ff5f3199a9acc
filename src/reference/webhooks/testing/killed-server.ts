import { startReference, virtualClock } from "../../reference.ts";

// A server on a virtual clock with a data folder, in a process of its own that tests kill.
const [folder = ""] = process.argv.slice(2);
const { baseUrl } = await startReference({ clock: virtualClock(), dataFolder: folder });
process.stdout.write(`${baseUrl}\n`);

import { startReference, virtualClock } from "../../reference.ts";

// This program runs a server on a virtual clock with a data folder. Tests kill it.
const [folder = ""] = process.argv.slice(2);
const { baseUrl } = await startReference({ clock: virtualClock(), dataFolder: folder });
process.stdout.write(`${baseUrl}\n`);

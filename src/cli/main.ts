import { enableCompileCache } from "node:module";

import { compileCacheFolder, collectGarbageOften } from "./runtime.ts";

// Before anything is loaded: what has grown stays large.
collectGarbageOften(process.argv.slice(2), process.env["CONFORMANCE_BASE_URL"]);
// Where the folder cannot be written, nothing is kept, and all goes on.
const folder = compileCacheFolder();
if (folder !== null) enableCompileCache(folder);
const { runCommandLine } = await import("./command-line.ts");
await runCommandLine();

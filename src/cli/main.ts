import { enableCompileCache } from "node:module";

import { compileCacheFolder, collectGarbageOften } from "./runtime.ts";

// Must run before the imports below: V8 does not shrink a part of the heap that has grown.
collectGarbageOften(process.argv.slice(2), process.env["CONFORMANCE_BASE_URL"]);
// If the folder cannot be written, Node works without a cache.
const folder = compileCacheFolder();
if (folder !== null) enableCompileCache(folder);
const { runCommandLine } = await import("./command-line.ts");
await runCommandLine();

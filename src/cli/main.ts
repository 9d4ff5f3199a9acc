import { enableCompileCache } from "node:module";

import { compileCacheFolder, collectGarbageOften } from "./runtime.ts";

// This must come before the imports below, which make the heap grow. V8 does not shrink it again.
collectGarbageOften(process.argv.slice(2), process.env["CONFORMANCE_BASE_URL"]);
// The folder of Node's compile cache. If it cannot be written, Node works without a cache.
const folder = compileCacheFolder();
if (folder !== null) enableCompileCache(folder);
const { runCommandLine } = await import("./command-line.ts");
await runCommandLine();

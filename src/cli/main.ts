import { enableCompileCache } from "node:module";

import { compileCacheFolder, collectGarbageOften } from "./runtime.ts";

// Must run before the other modules are imported: they make V8's heap grow, and it never shrinks again.
collectGarbageOften(process.argv.slice(2), process.env["CONFORMANCE_BASE_URL"]);
// Folder in which Node caches compiled modules. If it cannot be written, Node works without a cache.
const folder = compileCacheFolder();
if (folder !== null) enableCompileCache(folder);
const { runCommandLine } = await import("./command-line.ts");
await runCommandLine();

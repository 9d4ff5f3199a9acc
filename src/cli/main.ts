import { enableCompileCache } from "node:module";

import { compileCacheFolder, collectGarbageOften } from "./runtime.ts";

// Sets V8's flags before further imports. Imports let V8's heap grow, and the flags cannot shrink it afterwards.
collectGarbageOften(process.argv.slice(2), process.env["CONFORMANCE_BASE_URL"]);
const folder = compileCacheFolder();
if (folder !== null) enableCompileCache(folder);
const { runCommandLine } = await import("./command-line.ts");
await runCommandLine();

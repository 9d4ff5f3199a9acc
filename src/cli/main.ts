import { enableCompileCache } from "node:module";

import { keepGarbageSmall } from "./memory.ts";

// Before anything is loaded: what has grown stays large.
keepGarbageSmall(process.argv.slice(2), process.env["CONFORMANCE_BASE_URL"]);
// A command loads hundreds of modules: what V8 made of them the last time is kept in the system's folder for temporary files.
enableCompileCache();
await import("./command-line.ts");

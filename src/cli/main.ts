import { enableCompileCache } from "node:module";

// A command loads hundreds of modules: what V8 made of them the last time is kept in the system's folder for temporary files.
enableCompileCache();
await import("./command-line.ts");

// Loads the modules of most tests once. Node then has their compiled code in its cache before six test workers need it
// at the same time.
await import("../src/library/index.ts");
await import("../src/library/vitest/index.ts");
await import("../src/selftest/seeds.ts");
await import("../src/selftest/mutants/run-mutants.ts");

// Loads the modules of most tests once, so that Node caches their code before six workers ask for it at the same time.
await import("../src/library/index.ts");
await import("../src/library/vitest/index.ts");
await import("../src/selftest/seeds.ts");
await import("../src/selftest/mutants/run-mutants.ts");

// Loads most modules once, so that Node's compile cache contains their code before the tests start.
await import("../src/library/index.ts");
await import("../src/library/vitest/index.ts");
await import("../src/selftest/seeds.ts");
await import("../src/selftest/mutants/run-mutants.ts");

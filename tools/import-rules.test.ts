import { execFile } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";

/** Source files that try the rules. `found` is a part of the expected finding, or `undefined` if there must be none. */
const planted: readonly { file: string; source: string; found: string | undefined }[] = [
  { file: "src/spec/tiers.ts", source: `export const tiers = 1;\nexport type Tier = 1;`, found: undefined },
  { file: "src/run/plan/plan.ts", source: `export const plan = 1;\nexport type Plan = 1;`, found: undefined },
  { file: "src/evidence/exchange.ts", source: `export type Exchange = 1;`, found: undefined },
  { file: "src/wire/sse.ts", source: `export const sse = 1;`, found: undefined },
  { file: "src/reference/server.ts", source: `export { tiers } from "../spec/tiers.ts";`, found: undefined },
  { file: "src/reference/routes.ts", source: `export * from "fastify";`, found: undefined },
  { file: "src/suites/health/checks.ts", source: `export { sse } from "../../wire/sse.ts";`, found: undefined },
  { file: "src/report/text.ts", source: `export type { Exchange } from "../evidence/exchange.ts";`, found: undefined },
  { file: "src/cli/run.ts", source: `export { Command as run } from "commander";`, found: undefined },
  { file: "src/app/schemas.ts", source: `export { z } from "zod";`, found: undefined },
  { file: "src/cli/main.ts", source: `export { tiers } from "../reference/server.ts";`, found: undefined },
  { file: "src/run/judge/judge.test.ts", source: `import "../../reference/server.ts";`, found: undefined },
  { file: "bench/tool/row.ts", source: `export { tiers } from "../../src/reference/server.ts";`, found: undefined },
  { file: "scenarios/all.ts", source: `export const scenarios = 1;`, found: undefined },
  { file: "src/load/scenarios.ts", source: `export * from "../../scenarios/all.ts";`, found: undefined },

  {
    file: "src/app/scenarios.ts",
    source: `export * from "../../scenarios/all.ts";`,
    found: "app may not import ../../scenarios/all.ts",
  },
  {
    file: "src/cli/bench.ts",
    source: `export { tiers } from "../../bench/tool/row.ts";`,
    found: "cli may not import ../../bench/tool/row.ts",
  },
  {
    file: "src/suites/usage/checks.ts",
    source: `import { tiers } from "../../reference/server.ts";\nexport const usage = tiers;`,
    found: "suites may not import ../../reference/server.ts",
  },
  {
    file: "src/suites/usage/checks.test.ts",
    source: `import "../../reference/server.ts";`,
    found: "suites may not import ../../reference/server.ts",
  },
  {
    file: "src/suites/reexport.ts",
    source: `export * from "../reference/server.ts";`,
    found: "suites may not import ../reference/server.ts",
  },
  {
    file: "src/suites/lazy.ts",
    source: `export const lazy = () => import("../reference/server.ts");`,
    found: "suites may not import ../reference/server.ts",
  },
  {
    file: "src/reference/stream.ts",
    source: `import { sse } from "../wire/sse.ts";\nexport const stream = sse;`,
    found: "reference may not import ../wire/sse.ts",
  },
  {
    file: "src/reference/types.ts",
    source: `export type { Exchange } from "../evidence/exchange.ts";`,
    found: "reference may not import ../evidence/exchange.ts",
  },
  {
    file: "src/spec/limits.ts",
    source: `import { sse } from "../wire/sse.ts";\nexport const limits = sse;`,
    found: "spec may not import ../wire/sse.ts",
  },
  {
    file: "src/spec/schemas.ts",
    source: `import { z } from "zod";\nexport const schemas = z;`,
    found: "spec may not import zod",
  },
  {
    file: "src/spec/files.ts",
    source: `import fs from "node:fs";\nexport const files = fs;`,
    found: "spec may not import node:fs",
  },
  {
    file: "src/report/model/report-file.ts",
    source: `import { plan } from "../../run/plan/plan.ts";\nexport const json = plan;`,
    found: "report may not import ../../run/plan/plan.ts",
  },
  {
    file: "src/run/plan/schedule.ts",
    source: `import { usage } from "../../suites/usage/checks.ts";\nexport const schedule = usage;`,
    found: "run may not import ../../suites/usage/checks.ts",
  },
  {
    file: "src/app/judge.ts",
    source: `import { run } from "../cli/run.ts";\nexport const judge = run;`,
    found: "app may not import ../cli/run.ts",
  },
  {
    file: "src/app/flags.ts",
    source: `import { Command } from "commander";\nexport const flags = new Command();`,
    found: "app may not import commander",
  },
  {
    file: "src/base/tiers.ts",
    source: `export { tiers } from "../spec/tiers.ts";`,
    found: "base may not import ../spec/tiers.ts",
  },
  {
    file: "src/attic/old.ts",
    source: `import { sse } from "../wire/sse.ts";\nexport const old = sse;`,
    found: "attic may not import ../wire/sse.ts",
  },
  { file: "src/loose.ts", source: `export const loose = 1;`, found: "does not belong to any known element" },
  {
    file: "src/target/keys.ts",
    source: `import type { Agents } from "./agents.ts";\nexport type Keys = Agents;`,
    found: "Dependency cycle detected",
  },
  {
    file: "src/target/agents.ts",
    source: `import type { Keys } from "./keys.ts";\nexport type Agents = Keys | 1;`,
    found: "Dependency cycle detected",
  },
];

function ours(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url));
}

/** Lints a folder by the project's rules. Returns one line for each finding: `file:line:column: message`. */
function findingsIn(folder: string): Promise<string[]> {
  const linter = [
    ours("../node_modules/oxlint/bin/oxlint"),
    "-c",
    ours("import-rules.oxlintrc.json"),
    "-f",
    "unix",
    "src",
    "bench",
  ];
  return new Promise((resolve) => {
    // The linter exits with 1 if it has findings, which this test expects.
    execFile(process.execPath, linter, { cwd: folder }, (_error, stdout) => resolve(stdout.split("\n")));
  });
}

describe("the import rules", () => {
  let folder: string;
  let findings: readonly string[];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "folders-"));
    for (const { file, source } of planted) {
      await mkdir(dirname(join(folder, file)), { recursive: true });
      await writeFile(join(folder, file), `${source}\n`);
    }
    findings = await findingsIn(folder);
  });

  afterAll(() => rm(folder, { recursive: true, force: true }));

  it.each(planted.filter(({ found }) => found === undefined))("allow $file: $source", ({ file }) => {
    expect(findings.filter((line) => line.startsWith(`${file}:`))).toEqual([]);
  });

  it.each(planted.filter(({ found }) => found !== undefined))("catch $file: $found", ({ file, found }) => {
    expect(findings.filter((line) => line.startsWith(`${file}:`))).toEqual([expect.stringContaining(found ?? "")]);
  });
});

/** A permission in the file of import rules. */
interface Permission {
  readonly from: string;
  readonly to: string;
  readonly isOfTests: boolean;
}

const policySchema = z.object({
  from: z.object({
    element: z.object({ captured: z.object({ folder: z.union([z.string(), z.array(z.string())]) }) }).optional(),
    file: z.object({ categories: z.literal("test") }).optional(),
  }),
  allow: z
    .object({
      to: z.object({
        element: z.object({ captured: z.object({ folder: z.union([z.string(), z.array(z.string())]) }) }).optional(),
      }),
    })
    .optional(),
});
const rulesSchema = z.object({
  rules: z.object({
    "boundaries/dependencies": z.tuple([z.literal("error"), z.object({ policies: z.array(policySchema) })]),
  }),
});

/** Reads the permissions that name two folders, and those for tests. */
function permissions(): Permission[] {
  const text = readFileSync(ours("import-rules.oxlintrc.json"), "utf8").replace(/^\s*\/\/.*$/gm, "");
  const { policies } = rulesSchema.parse(JSON.parse(text)).rules["boundaries/dependencies"][1];
  return policies.flatMap(({ from, allow }) => {
    const [folders, others] = [from.element?.captured.folder ?? [], allow?.to.element?.captured.folder ?? []].map(
      (each) => [each].flat(),
    );
    const isOfTests = from.file !== undefined;
    return (folders ?? [])
      .filter((folder) => folder !== "cli" && folder !== "bench" && !folder.startsWith("!"))
      .flatMap((folder) => (others ?? []).map((to) => ({ from: folder, to, isOfTests })));
  });
}

/** Returns the folder that the rules name for a path; `null` outside src and scenarios. */
function folderOf(path: string): string | null {
  const [top, folder = "", below] = path.split(sep);
  if (top === "scenarios") return top;
  if (top !== "src") return null;
  return folder === "reference" && below === "embedded" ? below : folder;
}

/** Lists every import of one folder from another, including imports of types. */
function importsOf(from: string): { readonly to: string; readonly isOfTest: boolean }[] {
  const files = globSync("src/**/*.ts", { cwd: ours("..") }).filter((file) => folderOf(file) === from);
  return files.flatMap((file) => {
    const text = readFileSync(ours(`../${file}`), "utf8");
    return [...text.matchAll(/\b(?:from|import\(?)\s*"(\.[^"]+)"/g)].flatMap(([, path = ""]) => {
      const to = folderOf(join(dirname(file), path));
      return to === null || to === from ? [] : [{ to, isOfTest: file.endsWith(".test.ts") }];
    });
  });
}

describe("what the import rules permit", () => {
  const all = permissions();
  const ofFiles = all.filter(({ isOfTests }) => !isOfTests);

  it("is read from the file", () => {
    expect(ofFiles).toContainEqual({ from: "library", to: "app", isOfTests: false });
    expect(all).toContainEqual({ from: "app", to: "*", isOfTests: true });
  });

  it.each(ofFiles)("is used: $from imports $to", ({ from, to }) => {
    expect(importsOf(from).filter((each) => each.to === to && !each.isOfTest)).not.toEqual([]);
  });

  it.each(all.filter(({ isOfTests }) => isOfTests))(
    "is used: a test of $from imports a folder that $from may not",
    ({ from }) => {
      const permitted = new Set(["base", ...ofFiles.filter((each) => each.from === from).map(({ to }) => to)]);
      expect(importsOf(from).filter((each) => each.isOfTest && !permitted.has(each.to))).not.toEqual([]);
    },
  );
});

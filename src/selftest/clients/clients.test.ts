import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { afterAll, describe, expect, it } from "vitest";

import { judgeClient } from "../../app/client/judge-client.ts";
import { sampleOf } from "../../base/testing/test-scope.ts";
import { cliMessages } from "../../cli/messages.ts";
import { type TroubleName, troubleDescriptions } from "../../gateway/trouble.ts";
import { pythonInterpreter, withoutPython } from "../../reference/testing/clients/python.ts";
import type { Report } from "../../report/model/report.ts";
import { breachOutcomeByLevel } from "../../spec/clause.ts";
import { clauseOf, clausesOfParty } from "../../spec/clauses.ts";
import { applyChange, type ClientChange } from "./client-change.ts";
import { legalPythonClients, pythonMistakes } from "./python-changes.ts";
import { legalTypescriptClients, typescriptMistakes } from "./typescript-changes.ts";

const folder = mkdtempSync(join(tmpdir(), "clients-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A language of the examples. */
interface Language {
  readonly name: string;
  readonly file: string;
  readonly program: string;
  readonly isInstalled: boolean;
  readonly mistakes: readonly ClientChange[];
  readonly legal: readonly ClientChange[];
}

const languages: readonly Language[] = [
  {
    name: "Python, with httpx",
    file: "client.py",
    program: pythonInterpreter,
    isInstalled: !withoutPython && existsSync(pythonInterpreter),
    mistakes: pythonMistakes,
    legal: legalPythonClients,
  },
  {
    name: "TypeScript, with fetch",
    file: "client.ts",
    program: process.execPath,
    isInstalled: true,
    mistakes: typescriptMistakes,
    legal: legalTypescriptClients,
  },
];

const allTroubles = Object.keys(troubleDescriptions) as readonly TroubleName[];

let count = 0;

/** Judges a client by its source. */
async function judged({ file, program }: Language, source: string, troubles: readonly TroubleName[]): Promise<Report> {
  count += 1;
  const path = join(folder, `c${count}-${file}`);
  writeFileSync(path, source);
  const { report } = await judgeClient({
    command: [program, path],
    variables: {
      baseUrl: "AGENT_BASE_URL",
      apiKey: "AGENT_API_KEY",
      agent: "AGENT_ID",
      signingSecret: "AGENT_SIGNING_SECRET",
    },
    troubles,
    seed: count,
    isStrict: true,
    timeoutMs: 60_000,
    showsOutput: false,
    maxRetryAfterSeconds: 1,
    tls: null,
    messages: cliMessages,
    signal: new AbortController().signal,
    progress: {},
    onFailure: (output) => expect.fail(output),
  });
  return report;
}

const sourceOf = (file: string): string =>
  readFileSync(fileURLToPath(new URL(`../../../examples/clients/${file}`, import.meta.url)), "utf8");

const clausesWith = ({ findings }: Report, ...outcomes: readonly string[]): string[] => [
  ...new Set(findings.filter(({ outcome }) => outcomes.includes(outcome)).map(({ clause }) => clause)),
];

const bad = ["fail", "warning", "note", "error"] as const;

for (const language of languages)
  describe.skipIf(!language.isInstalled).concurrent(`a client in ${language.name}`, () => {
    const right = sourceOf(language.file);

    it("that is right passes every check, and each open question is observed", async () => {
      const report = await judged(language, right, allTroubles);
      expect(clausesWith(report, ...bad, "skipped")).toEqual([]);
      expect(report.verdict).toBe("conformant");
    });

    // A busy machine may delay a client, so that equal waits seem to grow.
    it.each(sampleOf(language.mistakes, { of: 8 }))("with $name breaks $breaks", { retry: 2 }, async (change) => {
      const report = await judged(language, applyChange(right, change), change.needsTrouble ? allTroubles : []);
      expect(clausesWith(report, ...bad)).toEqual([change.breaks]);
    });

    it.each(sampleOf(language.legal, { of: 8 }))("with $name is legal", async (change) => {
      const report = await judged(language, applyChange(right, change), allTroubles);
      expect(clausesWith(report, ...bad)).toEqual([]);
    });
  });

describe("the mistakes of clients", () => {
  const judgedIds = clausesOfParty("client").filter(
    (id) => clauseOf(id).untestable === undefined && breachOutcomeByLevel[clauseOf(id).level] !== "observed",
  );

  it.each(languages)("in $name break every clause that a check judges, in 15 ways or more", ({ mistakes }) => {
    const broken = new Set(mistakes.map(({ breaks }) => breaks));
    expect(judgedIds.filter((id) => !broken.has(id))).toEqual([]);
    expect(mistakes.length).toBeGreaterThanOrEqual(15);
  });
});

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { afterAll, describe, expect, it } from "vitest";

import { freePort } from "../../base/testing/network.ts";
import { hasGo, hasPython, sampleOf } from "../../base/testing/test-scope.ts";
import type { RunResult } from "../../run/run-result.ts";
import {
  goMiddlewareMistakes,
  goMistakes,
  iteratingMistakes,
  pythonMistakes,
  type SourceMistake,
  typescriptMistakes,
  wsgiMistakes,
} from "./testing/example-mistakes.ts";
import { clausesWith, judgeReceiverAt } from "./testing/receiver.ts";

const folder = mkdtempSync(join(tmpdir(), "receivers-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const secret = "whsec_of-the-examples";

/** A language of the examples: how to make a command of a source file. */
interface Language {
  readonly isInstalled: boolean;
  readonly commandOf: (source: string) => readonly [string, ...string[]];
}

const languages = {
  python: { isInstalled: hasPython(), commandOf: (source) => ["python3", source] },
  typescript: { isInstalled: true, commandOf: (source) => [process.execPath, source] },
  go: {
    isInstalled: hasGo(),
    commandOf: (source) => {
      const program = source.replace(/[.]go$/, "");
      const built = spawnSync("go", ["build", "-o", program, source], { encoding: "utf8" });
      if (built.status !== 0) throw new Error(built.stderr);
      return [program];
    },
  },
} as const satisfies Readonly<Record<string, Language>>;

interface Example {
  readonly file: string;
  readonly language: Language;
  readonly mistakes: readonly SourceMistake[];
}

const examples: readonly Example[] = [
  { file: "receiver.py", language: languages.python, mistakes: pythonMistakes },
  { file: "wsgi.py", language: languages.python, mistakes: wsgiMistakes },
  { file: "receiver.ts", language: languages.typescript, mistakes: typescriptMistakes },
  { file: "iterating.ts", language: languages.typescript, mistakes: iteratingMistakes },
  { file: "receiver.go", language: languages.go, mistakes: goMistakes },
  { file: "middleware.go", language: languages.go, mistakes: goMiddlewareMistakes },
];

const sourceOf = (file: string): string =>
  readFileSync(new URL(`../../../examples/receivers/${file}`, import.meta.url), "utf8");

let count = 0;

/** Starts a receiver from its source, judges it, and stops it. */
async function judgeSource({ file, language }: Example, source: string): Promise<RunResult> {
  count += 1;
  const path = join(folder, `r${count}-${file}`);
  writeFileSync(path, source);
  const [program, ...args] = language.commandOf(path);
  const port = await freePort();
  const env = { ...process.env, WEBHOOK_SECRET: secret, PORT: String(port) };
  const child = spawn(program, args, { env, stdio: "ignore" });
  try {
    await untilListening(port, child);
    return await judgeReceiverAt(`http://127.0.0.1:${port}/`, [secret]);
  } finally {
    child.kill();
  }
}

async function untilListening(port: number, child: ChildProcess): Promise<void> {
  while (child.exitCode === null && !(await accepts(port))) await sleep(20);
}

const accepts = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });

for (const example of examples)
  describe.skipIf(!example.language.isInstalled)(`the example ${example.file}`, () => {
    const right = sourceOf(example.file);

    it("is a right receiver", async () => {
      const result = await judgeSource(example, right);
      expect(clausesWith(result, "breach", "unproven", "error")).toEqual([]);
    });

    it.each(sampleOf(example.mistakes, { of: 4 }))(
      "is told apart from a receiver with $name, which breaks $breaks",
      async (mistake) => {
        const source = right.replace(...mistake.replace);
        expect(source).not.toBe(right);
        expect(clausesWith(await judgeSource(example, source), "breach")).toEqual([mistake.breaks]);
      },
    );
  });

it("each example has ten mistakes or more", () => {
  expect(examples.filter(({ mistakes }) => mistakes.length < 10)).toEqual([]);
});

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer, type AddressInfo } from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { afterAll, describe, expect, it } from "vitest";

import { sampleOf } from "../../base/testing/test-scope.ts";
import type { RunResult } from "../../run/run-result.ts";
import { goMistakes, pythonMistakes, type SourceMistake, typescriptMistakes } from "./testing/example-mistakes.ts";
import { clausesWith, judgeReceiverAt } from "./testing/judge-receiver.ts";

const folder = mkdtempSync(join(tmpdir(), "receivers-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const secret = "whsec_of-the-examples";

/** A language of the examples: how to make a command of a source file. */
interface Language {
  readonly name: string;
  readonly file: string;
  readonly isInstalled: boolean;
  readonly spoilers: readonly SourceMistake[];
  readonly commandOf: (source: string) => readonly [string, ...string[]];
}

const isInstalled = (program: string, flag: string): boolean => spawnSync(program, [flag]).status === 0;

const languages: readonly Language[] = [
  {
    name: "Python",
    file: "receiver.py",
    isInstalled: isInstalled("python3", "--version"),
    spoilers: pythonMistakes,
    commandOf: (source) => ["python3", source],
  },
  {
    name: "TypeScript",
    file: "receiver.ts",
    isInstalled: true,
    spoilers: typescriptMistakes,
    commandOf: (source) => [process.execPath, source],
  },
  {
    name: "Go",
    file: "receiver.go",
    isInstalled: isInstalled("go", "version"),
    spoilers: goMistakes,
    commandOf: (source) => {
      const program = source.replace(/[.]go$/, "");
      const built = spawnSync("go", ["build", "-o", program, source], { encoding: "utf8" });
      if (built.status !== 0) throw new Error(built.stderr);
      return [program];
    },
  },
];

const sourceOf = (file: string): string =>
  readFileSync(new URL(`../../../examples/receivers/${file}`, import.meta.url), "utf8");

let count = 0;

/** Starts a receiver from its source, judges it, and stops it. */
async function judgeSource({ file, commandOf }: Language, source: string): Promise<RunResult> {
  count += 1;
  const path = join(folder, `r${count}-${file}`);
  writeFileSync(path, source);
  const [program, ...args] = commandOf(path);
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

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
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

for (const language of languages)
  describe.skipIf(!language.isInstalled)(`the example in ${language.name}`, () => {
    const right = sourceOf(language.file);

    it("is a right receiver", async () => {
      const result = await judgeSource(language, right);
      expect(clausesWith(result, "breach", "unproven", "error")).toEqual([]);
    });

    it.each(sampleOf(language.spoilers, { of: 4 }))(
      "is told apart from a receiver with $name, which breaks $breaks",
      async (spoiler) => {
        const source = right.replace(...spoiler.replace);
        expect(source).not.toBe(right);
        expect(clausesWith(await judgeSource(language, source), "breach")).toEqual([spoiler.breaks]);
      },
    );
  });

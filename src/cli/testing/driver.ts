import { createInterface } from "node:readline";

import { runCommandLine } from "../command-line.ts";

/**
 * Runs the command again and again in one process, because starting one for each of many command lines takes a second each.
 * Reads `{"folder", "args": […], "variables": {…}}` by the line, and writes `{"code", "out", "err"}` for each.
 */
interface CommandRequest {
  readonly folder: string;
  readonly args: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
}

const standing = { ...process.env };
const answer = process.stdout.write.bind(process.stdout);
// Each command adds listeners of its own.
process.stdout.setMaxListeners(0);
process.stderr.setMaxListeners(0);

for await (const line of createInterface(process.stdin)) {
  const { folder, args, variables } = JSON.parse(line) as CommandRequest;
  process.chdir(folder);
  const written = { out: "", err: "" };
  process.stdout.write = (text: string | Uint8Array): boolean => Boolean((written.out += String(text)));
  process.stderr.write = (text: string | Uint8Array): boolean => Boolean((written.err += String(text)));
  process.env = { ...standing, ...variables };
  process.argv = [process.execPath, "conformance", ...args];
  process.exitCode = undefined;
  await runCommandLine();
  answer(`${JSON.stringify({ code: process.exitCode ?? 0, ...written })}\n`);
}
process.exitCode = 0;

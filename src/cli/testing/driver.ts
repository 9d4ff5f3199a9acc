import { createInterface } from "node:readline";

import { runCommandLine } from "../command-line.ts";
import type { CommandRequest } from "./command.ts";

// Runs many command lines in one process, because a new process for each would take a second. Each line of
// its output is `{"code", "out", "err"}`.

/** Formats a value as one line of JSON. Escapes U+2028 and U+2029, at which `node:readline` also splits lines. */
const jsonLine = (value: unknown): string =>
  `${JSON.stringify(value).replace(/[\u2028\u2029]/g, (mark) => `\\u${mark.charCodeAt(0).toString(16)}`)}\n`;

const standing = { ...process.env };
const answer = process.stdout.write.bind(process.stdout);
// Prevents a warning of Node about a leak: each command adds listeners to the stream.
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
  answer(jsonLine({ code: process.exitCode ?? 0, ...written }));
}
process.exitCode = 0;

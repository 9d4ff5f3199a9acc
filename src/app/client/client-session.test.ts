import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, describe, expect, it } from "vitest";

import { type CommandOptions, runCommand } from "./client-session.ts";

const folder = mkdtempSync(join(tmpdir(), "command-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const run = (source: string, options: Partial<CommandOptions> = {}) => {
  const file = join(folder, "command.mjs");
  writeFileSync(file, source);
  return runCommand({
    command: [process.execPath, file],
    environment: { PORT_FILE: join(folder, "port") },
    timeoutMs: 20_000,
    signal: new AbortController().signal,
    showsOutput: false,
    ...options,
  });
};

/** A command that starts a server, and says its port. The server ignores SIGTERM, and keeps the output open. */
const startsServer = (rest: string): string => `
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
const code = 'process.on("SIGTERM", () => {}); const server = require("net").createServer().listen(0, "127.0.0.1", () => process.send(server.address().port));';
const child = spawn(process.execPath, ["-e", code], { stdio: ["ignore", "inherit", "inherit", "ipc"] });
child.once("message", (port) => {
  writeFileSync(process.env.PORT_FILE, String(port));
  ${rest}
});
`;

/** Whether the server still listens. Its process id would not show it: a process that has ended may keep its id. */
const isListening = (): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(Number(readFileSync(join(folder, "port"), "utf8")), "127.0.0.1");
    socket.once("error", () => resolve(false)).once("connect", () => resolve(true));
    socket.once("connect", () => socket.destroy());
  });

describe.skipIf(process.platform === "win32")("a command", () => {
  it("gives its exit code and the end of its output", async () => {
    const { end, output } = await run(`console.log("a".repeat(9000) + " the end"); process.exitCode = 3;`);
    expect(end).toEqual({ kind: "exited", code: 3 });
    expect(output).toMatch(/^a+ the end\n$/);
    expect(output.length).toBeLessThanOrEqual(4000);
  });

  it("is over when it ends, and with it what it started", async () => {
    const { end } = await run(startsServer("process.exit(0);"));
    expect(end).toEqual({ kind: "exited", code: 0 });
    await expect.poll(isListening).toBe(false);
  });

  it("is ended with what it started if it takes too long", async () => {
    const { end } = await run(startsServer(""), { timeoutMs: 1000 });
    expect(end).toEqual({ kind: "timed out", afterMs: 1000 });
    await expect.poll(isListening).toBe(false);
  });

  it("is ended by a signal of the run", async () => {
    const { end } = await run("setInterval(() => {}, 1000);", { signal: AbortSignal.timeout(100) });
    expect(end).toEqual({ kind: "interrupted" });
  });
});

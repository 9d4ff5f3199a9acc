import { Command } from "commander";

import type { Patch } from "../../reference/patch.ts";
import { allFaults, allVariants } from "../../reference/patches.ts";
import { type Reference, realClock, type RequestLine, startReference } from "../../reference/reference.ts";
import { UsageProblem } from "../../target/problem.ts";
import { exitCodes } from "../exit-codes.ts";
import { readPatches } from "../patches.ts";

interface ServeOptions {
  readonly port: string;
  readonly host: string;
  readonly fault: readonly string[];
  readonly variant: readonly string[];
  readonly quiet?: boolean;
}

const collect = (value: string, before: readonly string[]): string[] => [...before, value];

/** `conformance serve`: the reference server alone, for people who write clients. */
export function serveCommand(): Command {
  return new Command("serve")
    .description("Serve the reference implementation of the interface, for people who write clients.")
    .option("-p, --port <port>", "port to listen on; 0 takes a free one", "8787")
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .option("--fault <name>", "break one thing on purpose (repeatable)", collect, [])
    .option("--variant <name>", "behave differently, and still legally (repeatable)", collect, [])
    .option("-q, --quiet", "no line for each request")
    .addHelpText("after", () => helpOnPatches())
    .action(async (options: ServeOptions) => {
      const chosen = readPatches(options.fault, options.variant);
      const server = await listen(options, () =>
        startReference({
          host: options.host,
          port: readPort(options.port),
          clock: realClock(),
          patches: chosen,
          ...(options.quiet === true ? {} : { onRequest: (line) => process.stderr.write(`${requestLine(line)}\n`) }),
        }),
      );
      process.stdout.write(
        banner(
          server,
          chosen.map(({ name }) => name),
        ),
      );
      await untilSignalled();
      await server.close();
      process.exitCode = exitCodes.fine;
    });
}

function readPort(text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new UsageProblem(`--port is ${JSON.stringify(text)}; give a number from 0 to 65535.`);
}

async function listen(options: ServeOptions, start: () => Promise<Reference>): Promise<Reference> {
  try {
    return await start();
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    const where = `${options.host}:${options.port}`;
    if (code === "EADDRINUSE")
      throw new UsageProblem(`Port ${where} is taken. Stop what listens there, or give --port 0 for a free one.`);
    if (code === "EACCES")
      throw new UsageProblem(`Port ${where} needs rights that this user does not have. Give one above 1023.`);
    if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND")
      throw new UsageProblem(`${where} is no address of this machine.`);
    throw error;
  }
}

const requestLine = ({ at, method, path, status, key, durationMs, left }: RequestLine): string =>
  `${at} ${method} ${path} ${status} ${key ?? "-"} ${Math.round(durationMs)}ms${left ? " (client left)" : ""}`;

function banner({ baseUrl, keys, agents }: Reference, names: readonly string[]): string {
  const keyRows = keys.map(({ name, key, tier }) => `  ${name.padEnd(12)}${tier.padEnd(12)}${key}`);
  const agentRows = Object.entries(agents).map(([role, id]) => `  ${role.padEnd(18)}${id}`);
  const free = keys.find(({ name }) => name === "enterprise") ?? keys[0];
  return [
    `Agent Hosting Service Interface, reference server${names.length === 0 ? "" : ` with ${names.join(", ")}`}`,
    "",
    `base URL  ${baseUrl}`,
    `OpenAPI   ${new URL("/openapi.json", baseUrl).href}`,
    "",
    "keys",
    ...keyRows,
    "",
    "agents",
    ...agentRows,
    "",
    `curl -H "Authorization: Bearer ${free?.key ?? ""}" -H "Content-Type: application/json" -d '{"query":"hello"}' ${baseUrl}/agents/echo/invoke`,
    `conformance run --base-url ${baseUrl} --api-key ${free?.key ?? ""}`,
    "",
    "Ctrl-C stops it.",
    "",
  ].join("\n");
}

function helpOnPatches(): string {
  const row = ({ name, summary, breaks }: Patch): string =>
    `  ${name.padEnd(34)} ${summary}${breaks.length === 0 ? "" : ` [${breaks.join(", ")}]`}`;
  return [
    "",
    "Faults (and the clauses each breaks):",
    ...allFaults.map(row),
    "",
    "Variants (all legal):",
    ...allVariants.map(row),
  ].join("\n");
}

const untilSignalled = (): Promise<void> =>
  new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => resolve());
  });

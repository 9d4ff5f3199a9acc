import { Command } from "commander";

import type { Patch } from "../../reference/patch.ts";
import { collect } from "../option-parsers.ts";
import { allFaults, allVariants } from "../../reference/catalogue.ts";
import {
  realClock,
  type Reference,
  type ReferenceOptions,
  type RequestLine,
  startReference,
  virtualClock,
} from "../../reference/reference.ts";
import { DataFolderProblem } from "../../reference/webhooks/disk-store.ts";
import { UsageError } from "../../base/usage-error.ts";
import { exitCodes } from "../exit-codes.ts";
import { patchesByName } from "../../reference/embedded/patches-by-name.ts";
import { followAgents, hostAgents, loadAgents } from "../serve/agent-files.ts";
import { banner } from "../serve/banner.ts";
import { readPort, readRanges, readTls, readToken, type ServeFlags } from "../serve/serve-options.ts";
import { targetDocument, writeTargetDocument } from "../serve/target-document.ts";

const examples = `
Examples:
  conformance serve
  conformance serve --agent weather.json                     its agent, too; edits take effect at once
  conformance serve --virtual-clock --write-target here.json
  conformance run --target here.json                         everything, from another process
`;

/** `conformance serve`: the reference server alone, for people who write clients. */
export function serveCommand(): Command {
  return new Command("serve")
    .option("-p, --port <port>", "port to listen on; 0 takes a free one", "8787")
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .option(
      "--agent <file>",
      "serve the agent of this configuration file, and follow its edits (repeatable)",
      collect,
      [],
    )
    .option("--tls-cert <file>", "serve HTTPS with this certificate (PEM); needs --tls-key")
    .option("--tls-key <file>", "the certificate's key (PEM)")
    .option("--virtual-clock", "a clock that stands still until POST /clock/advance moves it")
    .option(
      "--clock-token <token>",
      "what moves the clock and deployments (default: $CONFORMANCE_CLOCK_TOKEN, or one that is made and printed)",
    )
    .option("--data <dir>", "keep webhooks, alerts and deliveries in this folder, so that they outlive the server")
    .option(
      "--allow-deliveries-to <cidr>",
      "deliver webhooks to these private addresses, too (repeatable)",
      collect,
      [],
    )
    .option("--trust-proxy <cidr>", "believe these proxies on the address of a client (repeatable)", collect, [])
    .option("--write-target <file>", "write a target file for this server; it holds its keys")
    .option("--fault <name>", "break one thing on purpose (repeatable)", collect, [])
    .option("--variant <name>", "behave differently, and still legally (repeatable)", collect, [])
    .option("-q, --quiet", "no line for each request")
    .addHelpText("after", () => examples + helpOnPatches())
    .action(async (flags: ServeFlags) => {
      await serve(flags);
      process.exitCode = exitCodes.fine;
    });
}

/** Serves until a signal comes. Everything that can be wrong is looked at before anything listens. */
async function serve(flags: ServeFlags): Promise<void> {
  const patches = patchesByName(flags.fault, flags.variant);
  const control = readToken(flags.clockToken, process.env);
  const loaded = loadAgents(flags.agent);
  const reference = await listen(flags, { ...optionsOf(flags), patches, controlToken: control.token });
  try {
    const hosted = hostAgents(reference, loaded);
    if (flags.writeTarget !== undefined)
      writeTargetDocument(flags.writeTarget, targetDocument(reference, control.token));
    const names = patches.map(({ name }) => name);
    const targetFile = flags.writeTarget ?? null;
    process.stdout.write(banner(reference, { patches: names, hosted, control, targetFile }));
    const watch = followAgents(reference, hosted, (line) => process.stderr.write(`${line}\n`));
    await untilSignalled();
    watch.close();
  } finally {
    await reference.close();
  }
}

function optionsOf(flags: ServeFlags): ReferenceOptions {
  const log = (line: RequestLine) => void process.stderr.write(`${requestLine(line)}\n`);
  return {
    host: flags.host,
    port: readPort(flags.port),
    clock: flags.virtualClock === true ? virtualClock() : realClock(),
    tls: readTls(flags.tlsCert, flags.tlsKey),
    dataFolder: flags.data ?? null,
    allowDeliveriesTo: readRanges("--allow-deliveries-to", flags.allowDeliveriesTo),
    trustedProxies: readRanges("--trust-proxy", flags.trustProxy),
    ...(flags.quiet === true ? {} : { onRequest: log }),
  };
}

async function listen(flags: ServeFlags, options: ReferenceOptions): Promise<Reference> {
  try {
    return await startReference(options);
  } catch (error) {
    if (error instanceof DataFolderProblem) throw new UsageError(error.message);
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    const where = `${flags.host}:${flags.port}`;
    if (code === "EADDRINUSE")
      throw new UsageError(`Port ${where} is taken. Stop what listens there, or give --port 0 for a free one.`);
    if (code === "EACCES")
      throw new UsageError(`Port ${where} needs rights that this user does not have. Give one above 1023.`);
    if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND")
      throw new UsageError(`${where} is no address of this machine.`);
    throw error;
  }
}

const requestLine = ({ at, method, path, status, key, durationMs, left }: RequestLine): string =>
  `${at} ${method} ${path} ${status} ${key ?? "-"} ${Math.round(durationMs)}ms${left ? " (client left)" : ""}`;

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

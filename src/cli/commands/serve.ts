import { terminalOf } from "../terminal.ts";
import { printText } from "../print-line.ts";
import { Command } from "commander";

import type { HostedAgent } from "../../app/serve/agent-files.ts";
import { serveReference, type ServeOptions } from "../../app/serve/serve-reference.ts";
import { allFaults, allVariants } from "../../reference/catalogue.ts";
import { patchesByName } from "../../reference/embedded/patches-by-name.ts";
import type { Patch } from "../../reference/patch.ts";
import { realClock, type Reference, type RequestLine, virtualClock } from "../../reference/reference.ts";
import { withSteps } from "../command.ts";
import { exitCodes } from "../exit-codes.ts";
import { appendValue } from "../option-parsers.ts";
import { banner } from "../serve/banner.ts";
import { readPort, readRanges, readTls, readToken, type ServeFlags } from "../serve/serve-options.ts";
import { waitForSignal } from "../signals.ts";

const examples = `
Examples:
  conformance serve
  conformance serve --agent weather.json                     its agent, too; edits take effect at once
  conformance serve --virtual-clock --write-target here.json
  conformance run --target here.json                         everything, from another process
`;

/** `conformance serve`: runs the reference server, for people who write clients. */
export function serveCommand(): Command {
  const command = new Command("serve")
    .option("-p, --port <port>", "port to listen on; 0 takes a free one", "8787")
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .option(
      "--agent <file>",
      "serve the agent of this configuration file, and follow its edits (repeatable)",
      appendValue,
      [],
    )
    .option("--tls-cert <file>", "serve HTTPS with this certificate (PEM); needs --tls-key")
    .option("--tls-key <file>", "the certificate's key (PEM)")
    .option("--virtual-clock", "a clock that stands still until POST /clock/advance moves it")
    .option(
      "--clock-token <token>",
      "what moves the clock and deployments (default: $CONFORMANCE_CLOCK_TOKEN, or one that is made and printed)",
    )
    .option(
      "--control-host <name>",
      "a host name under which the test control is on; on loopback, it always is (repeatable)",
      appendValue,
      [],
    )
    .option("--data <dir>", "keep webhooks, alerts and deliveries in this folder, so that they outlive the server")
    .option(
      "--allow-deliveries-to <cidr>",
      "deliver webhooks to these private addresses, too (repeatable)",
      appendValue,
      [],
    )
    .option("--trust-proxy <cidr>", "believe these proxies on the address of a client (repeatable)", appendValue, [])
    .option("--write-target <file>", "write a target file for this server; it holds its keys")
    .option("--fault <name>", "break one thing on purpose (repeatable)", appendValue, [])
    .option("--variant <name>", "behave differently, and still legally (repeatable)", appendValue, [])
    .option("-q, --quiet", "no line for each request")
    .addHelpText("after", () => examples + patchesHelp());
  return withSteps(command, { prepare, act: serveUntilSignal, present: () => exitCodes.fine });
}

type Prepared = ReturnType<typeof prepare>;

function prepare(flags: ServeFlags) {
  const patches = patchesByName(flags.fault, flags.variant);
  const control = readToken(flags.clockToken, process.env);
  const print = printText;
  const options: ServeOptions = {
    patches,
    controlToken: control.token,
    controlHosts: flags.controlHost,
    host: flags.host,
    port: readPort(flags.port),
    clock: flags.virtualClock === true ? virtualClock() : realClock(),
    tls: readTls(flags.tlsCert, flags.tlsKey),
    dataFolder: flags.data ?? null,
    allowDeliveriesTo: readRanges("--allow-deliveries-to", flags.allowDeliveriesTo),
    trustedProxies: readRanges("--trust-proxy", flags.trustProxy),
    ...(flags.quiet === true ? {} : { onRequest: (line: RequestLine) => print(requestLine(line)) }),
    agentFiles: flags.agent,
    targetFile: flags.writeTarget ?? null,
    names: { agentFile: "--agent", allowDeliveriesTo: "--allow-deliveries-to", targetFile: "--write-target" },
    onAgentChange: print,
    onOpenFilesLimit: print,
  };
  return { options, control, patches };
}

/** Prints the banner, and serves until a signal such as SIGINT. */
async function serveUntilSignal({ options, control, patches }: Prepared): Promise<void> {
  const { reference, hosted, close } = await serveReference(options);
  try {
    printBanner(reference, hosted, { options, control, patches });
    await waitForSignal();
  } finally {
    await close();
  }
}

function printBanner(
  reference: Reference,
  hosted: readonly HostedAgent[],
  { options, control, patches }: Prepared,
): void {
  const names = patches.map(({ name }) => name);
  terminalOf(process.stdout).write(
    banner(reference, { patches: names, hosted, control, targetFile: options.targetFile }),
  );
}

const requestLine = ({ at, method, path, status, key, durationMs, left }: RequestLine): string =>
  `${at} ${method} ${path} ${status} ${key ?? "-"} ${Math.round(durationMs)}ms${left ? " (client left)" : ""}`;

function patchesHelp(): string {
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

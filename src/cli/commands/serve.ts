import { terminalOf } from "../terminal.ts";
import { printText } from "../print-line.ts";
import { randomBytes } from "node:crypto";

import { Command } from "commander";

import type { HostedAgent } from "../../app/serve/agent-files.ts";
import { serveReference, type ServeOptions } from "../../app/serve/serve-reference.ts";
import { line, UsageError } from "../../base/line.ts";
import { isAddressRange } from "../../reference/addresses.ts";
import { controlTokenHeader } from "../../reference/server/control.ts";
import { allFaults, allVariants, patchesByName } from "../../reference/catalogue.ts";
import type { Patch } from "../../reference/patch.ts";
import { systemClock, type Reference, type RequestLine, virtualClock } from "../../reference/reference.ts";
import { withSteps } from "../command.ts";
import { exitCodes } from "../../base/process-end.ts";
import { type FlagsOf, repeatable, withOptions } from "../options.ts";
import { readPort, readTls, tlsOptions } from "../tls-flags.ts";
import { waitForSignal } from "../signals.ts";

const serveOptions = {
  "-p, --port <port>": { help: "port to listen on; 0 takes a free one", default: "8787" },
  "--host <address>": { help: "address to listen on", default: "127.0.0.1" },
  "--agent <file>": repeatable("serve the agent of this configuration file, and follow its edits"),
  ...tlsOptions,
  "--virtual-clock": "a clock that stands still until POST /clock/advance moves it",
  "--clock-token <token>":
    "what moves the clock and deployments (default: $CONFORMANCE_CLOCK_TOKEN, or one that is made and printed)",
  "--control-host <name>": repeatable("a host name under which the test control is on; on loopback, it always is"),
  "--data <dir>": "keep webhooks, alerts and deliveries in this folder, so that they outlive the server",
  "--allow-deliveries-to <cidr>": repeatable("deliver webhooks to these private addresses, too"),
  "--trust-proxy <cidr>": repeatable("believe these proxies on the address of a client"),
  "--write-target <file>": "write a target file for this server; it holds its keys",
  "--fault <name>": repeatable("break one thing on purpose"),
  "--variant <name>": repeatable("behave differently, and still legally"),
  "-q, --quiet": "no line for each request",
} as const;

const examples = `
Examples:
  conformance serve
  conformance serve --agent weather.json                     its agent, too; edits take effect at once
  conformance serve --virtual-clock --write-target here.json
  conformance run --target here.json                         everything, from another process
`;

/** `conformance serve`: runs the reference server, for people who write clients. */
export function serveCommand(): Command {
  const command = withOptions(new Command("serve"), serveOptions).addHelpText("after", () => examples + patchesHelp());
  return withSteps(command, { prepare, act: serveUntilSignal, present: () => exitCodes.fine });
}

type Prepared = ReturnType<typeof prepare>;

function prepare(flags: FlagsOf<typeof serveOptions>) {
  const patches = patchesByName(flags.fault, flags.variant);
  const control = readToken(flags.clockToken, process.env);
  const options: ServeOptions = {
    patches,
    controlToken: control.token,
    controlHosts: flags.controlHost,
    host: flags.host,
    port: readPort(flags.port),
    clock: flags.virtualClock === true ? virtualClock() : systemClock(),
    tls: readTls(flags.tlsCert, flags.tlsKey),
    dataFolder: flags.data ?? null,
    allowDeliveriesTo: readRanges("--allow-deliveries-to", flags.allowDeliveriesTo),
    trustedProxies: readRanges("--trust-proxy", flags.trustProxy),
    ...(flags.quiet === true ? {} : { onRequest: (request: RequestLine) => printText(requestLine(request)) }),
    agentFiles: flags.agent,
    targetFile: flags.writeTarget ?? null,
    names: { agentFile: "--agent", allowDeliveriesTo: "--allow-deliveries-to", targetFile: "--write-target" },
    onAgentChange: printText,
    onOpenFilesLimit: printText,
  };
  return { options, control, patches };
}

async function serveUntilSignal(prepared: Prepared): Promise<void> {
  const { reference, hosted, close } = await serveReference(prepared.options);
  try {
    terminalOf(process.stdout).write(banner(reference, hosted, prepared));
    await waitForSignal();
  } finally {
    await close();
  }
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

function readRanges(flag: string, ranges: readonly string[]): readonly string[] {
  const wrong = ranges.find((range) => !isAddressRange(range));
  if (wrong === undefined) return ranges;
  throw new UsageError(line`${flag} is ${JSON.stringify(wrong)}; give an address or a CIDR such as 10.0.0.0/8.`);
}

const tokenVariable = "CONFORMANCE_CLOCK_TOKEN";

function readToken(flag: string | undefined, environment: NodeJS.ProcessEnv) {
  const given = flag ?? environment[tokenVariable];
  if (given === undefined) return { token: randomBytes(18).toString("base64url"), isGenerated: true };
  if (/^[\x21-\x7e]+$/.test(given)) return { token: given, isGenerated: false };
  const name = flag === undefined ? `$${tokenVariable}` : "--clock-token";
  throw new UsageError(line`${name} is empty, or holds blanks or characters that a header cannot carry.`);
}

function banner(
  reference: Reference,
  hosted: readonly HostedAgent[],
  { patches, control, options: { targetFile } }: Prepared,
): string {
  const { baseUrl, keys, agents, auth } = reference;
  const at = (path: string): string => new URL(path, baseUrl).href;
  const main = keys.find(({ name }) => name === "enterprise") ?? keys[0];
  const isSecure = baseUrl.startsWith("https:");
  return [
    `Agent Hosting Service Interface, reference server${patches.length === 0 ? "" : ` with ${patches.map(({ name }) => name).join(", ")}`}`,
    "",
    // In the interface document, a local server prints the status `ready` when it has started.
    "status    ready",
    `base URL  ${baseUrl}`,
    `OpenAPI   ${at("/openapi.json")}`,
    "",
    auth === "none" ? "keys (none is needed: auth_settings.type is none)" : "keys",
    ...keys.map(({ name, key, tier }) => `  ${name.padEnd(12)}${tier.padEnd(12)}${key}`),
    "",
    "agents",
    ...Object.entries(agents).map(([role, id]) => `  ${role.padEnd(21)}${id}`),
    ...hosted.map(({ id, path }) => `  ${"from a file".padEnd(21)}${id}  (${path})`),
    "",
    "requests are signed with",
    `  ${reference.signingSecret}`,
    "",
    ...controlLines(reference, control, at),
    `curl ${isSecure ? "-k " : ""}-H "Authorization: Bearer ${main?.key ?? ""}" -H "Content-Type: application/json" -d '{"query":"hello"}' ${baseUrl}/agents/echo/invoke`,
    targetFile === null
      ? `conformance run --base-url ${baseUrl} --api-key ${main?.key ?? ""}`
      : `conformance run --target ${targetFile}`,
    "",
    "Ctrl-C stops it.",
    "",
  ].join("\n");
}

function controlLines(
  { hasVirtualClock }: Reference,
  { token, isGenerated }: Prepared["control"],
  at: (path: string) => string,
): readonly string[] {
  const rows: readonly (readonly [string, string])[] = [
    ...(hasVirtualClock ? ([["/clock/advance", '{"seconds":60}']] as const) : []),
    ["/control/deployments", '{"agent_id":"echo","event":"updated"}'],
  ];
  return [
    `control, with the header ${controlTokenHeader}${isGenerated ? `: ${token}` : " that you gave"}`,
    ...rows.map(([path, body]) => `  POST ${at(path)}  ${body}`),
    "",
  ];
}

import { setTimeout as sleep } from "node:timers/promises";
import { join } from "node:path";

import { Command } from "commander";

import { startProxy } from "../../app/proxy/run-proxy.ts";
import { documentOf } from "../../app/report-folder/read-report-document.ts";
import type { ProxyReports } from "../../app/proxy/traffic-judge.ts";
import { errorCodeOrText } from "../../base/errors.ts";
import { slug, timeInName } from "../../base/file-names.ts";
import { line } from "../../base/line.ts";
import { formatCount } from "../../base/text.ts";
import { UsageError } from "../../base/usage-error.ts";
import { readBaseUrl } from "../../target/base-url.ts";
import { withSteps } from "../command.ts";
import { decisiveExitCode, exitCodes } from "../exit-codes.ts";
import { exitCodeOf } from "../../report/model/verdict.ts";
import { readTiers, tiersOption } from "../key-tiers.ts";
import { readDuration } from "../option-parsers.ts";
import { displayPath, prepareOwnFolder } from "../output-files.ts";
import { printLine } from "../print-line.ts";
import { readRequirements, requirementsOption, type RequirementsFlag } from "../requirements-flag.ts";
import {
  type FailureFlags,
  type FormatFlags,
  prepareFormats,
  readRules,
  withFailureOptions,
  withFormatOptions,
} from "../report/format-flags.ts";
import { presentReport, reportExitCode } from "../report/present-report.ts";
import { readPort, readTls } from "../serve/serve-options.ts";
import { stopOnSignal } from "../signals.ts";
import { type NetworkFlagValues, networkFromFlags, withNetworkOptions } from "../target-flags.ts";

interface ProxyFlags extends FormatFlags, FailureFlags, RequirementsFlag, NetworkFlagValues {
  readonly upstream?: string;
  readonly port: string;
  readonly host: string;
  readonly for?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly tier: readonly string[];
  readonly bodies: boolean;
  readonly complete?: boolean;
  readonly out?: string;
  readonly quiet?: boolean;
}

const examples = `
Clients use the address that the proxy prints in the place of the server's. Ctrl-C ends the proxy, and prints the report.

Examples:
  conformance proxy --upstream https://staging.example.com/v1
  conformance proxy --upstream http://127.0.0.1:8787/v1 --port 9000 --for 10m --tier pro --html traffic.html
  conformance proxy --upstream https://staging.example.com/v1 --host 0.0.0.0 --tls-cert cert.pem --tls-key key.pem

Exit codes: 0 nothing broken; 1 a must is broken; 2 usage; 3 no exchange could be judged; 4 the harness itself failed, or an output could not
be written.`;

/** `conformance proxy`: judges the traffic that passes it. */
export function proxyCommand(): Command {
  const command = new Command("proxy")
    .option("--upstream <url>", "base URL of the server to which everything is passed on")
    .option("-p, --port <port>", "port to listen on; 0 takes a free one", "8788")
    .option("--host <address>", "address to listen on; another than loopback lets other machines in", "127.0.0.1")
    .option("--for <duration>", "how long to go on, such as 10m (default: until Ctrl-C)")
    .option("--tls-cert <file>", "serve HTTPS with this certificate (PEM); needs --tls-key")
    .option("--tls-key <file>", "the certificate's key (PEM)")
    .option(...tiersOption)
    .option("--no-bodies", "write no bodies into evidence.json")
    .option(...requirementsOption)
    .option("--complete", "a must clause that was not exercised fails as well")
    .option("--out <dir>", "folder for report.json and evidence.json (default: a new one under reports/)")
    .option("--json <file>", "report.json to this file as well; - prints it, and nothing else, on standard output")
    .option("-q, --quiet", "only what is broken, and the verdict");
  withFormatOptions(withFailureOptions(withNetworkOptions(command)), ["report", "exchanges"]);
  return withSteps(command.addHelpText("after", examples), { prepare, act, present });
}

function prepare(flags: ProxyFlags) {
  if (flags.upstream === undefined) throw new UsageError(line`Give the server with --upstream URL.`);
  const baseUrl = readBaseUrl(flags.upstream);
  const name = `${timeInName(new Date())}-proxy-${slug(new URL(baseUrl).host).slice(0, 40)}`;
  return {
    flags,
    options: {
      baseUrl,
      network: networkFromFlags(flags, process.env),
      host: flags.host,
      port: readPort(flags.port),
      tls: readTls(flags.tlsCert, flags.tlsKey),
      tiers: readTiers(flags.tier),
      keepsBodies: flags.bodies,
      requirements: readRequirements(flags),
      tierName: "--tier",
    },
    forMs: flags.for === undefined ? null : readDuration(flags.for, "--for"),
    rules: readRules(flags),
    formats: prepareFormats(flags),
    folder: prepareOwnFolder(flags.out ?? join("reports", name)),
  };
}

type Prepared = ReturnType<typeof prepare>;

async function act({ options, forMs, flags }: Prepared): Promise<ProxyReports> {
  const onBreach = (check: string, actual: string): void => {
    if (flags.quiet !== true) printLine(line`${check} is broken: ${actual}`);
  };
  const proxy = await startProxy({ ...options, onBreach }).catch((error: unknown) => {
    throw new UsageError(
      line`The proxy cannot listen on ${options.host}, port ${options.port} (${errorCodeOrText(error)}). Give another --port or --host.`,
    );
  });
  printLine(line`${proxy.baseUrl} passes everything on to ${options.baseUrl}. ${endOf(forMs)}`);
  await endOfProxy(forMs);
  if (flags.quiet !== true) printLine(line`${formatCount(proxy.count(), "exchange")} passed.`);
  return proxy.finish();
}

const endOf = (forMs: number | null): string =>
  forMs === null ? "Ctrl-C ends it with a report." : `It ends after ${forMs / 1000} s, or with Ctrl-C.`;

/** Waits for the first signal, or for the end of the time. */
async function endOfProxy(forMs: number | null): Promise<void> {
  const controller = new AbortController();
  const release = stopOnSignal(controller);
  // A timer takes at most 24 days, and a proxy without an end needs one to keep waiting.
  await sleep(Math.min(forMs ?? maxTimerMs, maxTimerMs), undefined, { signal: controller.signal }).catch(() => {});
  release();
}

const maxTimerMs = 2 ** 31 - 1;

async function present({ server, client }: ProxyReports, prepared: Prepared): Promise<number> {
  const { flags, formats, rules, folder } = prepared;
  const shown = { isQuiet: flags.quiet === true, rules, reportsToCi: true };
  await presentReport(documentOf(server.report, server.evidence), {
    ...shown,
    save: { folder, run: server },
    folder: displayPath(folder),
    formats,
  });
  if (!formats.isStdoutTaken && flags.quiet !== true) process.stdout.write("\nThe clients\n\n");
  const own = join(folder, "client");
  await presentReport(documentOf(client.report, client.evidence), {
    ...shown,
    save: { folder: own, run: client },
    folder: displayPath(own),
    ...(formats.isStdoutTaken && { stream: process.stderr }),
  });
  // Observations of gaps need no exchange, so they do not count as something that was exercised.
  if (server.report.recording?.exchanges === 0) return exitCodes.nothingExercised;
  return decisiveExitCode([
    reportExitCode(server.report, rules, flags.complete === true),
    // The clauses of a client that no request concerned are no fault.
    exitCodeOf(client.report, { strict: rules.strict, complete: false }) === exitCodes.broken
      ? exitCodes.broken
      : exitCodes.fine,
  ]);
}

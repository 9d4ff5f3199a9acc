import { setTimeout as sleep } from "node:timers/promises";
import { join } from "node:path";

import { Command } from "commander";

import { startProxy } from "../../app/proxy/run-proxy.ts";
import { documentOf } from "../../app/report-folder/saved-report.ts";
import type { ProxyReports } from "../../app/proxy/traffic-judge.ts";
import { errorCodeOrText } from "../../base/errors.ts";
import { line, UsageError } from "../../base/line.ts";
import { formatCount } from "../../base/text.ts";
import { readBaseUrl } from "../../target/base-url.ts";
import { withSteps } from "../command.ts";
import { decisiveExitCode, exitCodes } from "../../base/process-end.ts";
import { exitCodeOf } from "../../report/model/verdict.ts";
import {
  formatOptions,
  prepareReport,
  readTrafficOptions,
  type TrafficFlags,
  trafficOptions,
} from "../report/report-flags.ts";
import { type FlagsOf, readDuration, withOptions } from "../options.ts";
import { displayPath } from "../output-files.ts";
import { printLine } from "../print-line.ts";
import { presentReport, reportExitCode } from "../report/present-report.ts";
import { readPort, readTls, tlsOptions } from "../tls-flags.ts";
import { stopOnSignal } from "../signals.ts";
import { networkFromFlags, networkOptions } from "../target-flags.ts";

const proxyOptions = {
  "--upstream <url>": "base URL of the server to which everything is passed on",
  "-p, --port <port>": { help: "port to listen on; 0 takes a free one", default: "8788" },
  "--host <address>": {
    help: "address to listen on; another than loopback lets other machines in",
    default: "127.0.0.1",
  },
  "--for <duration>": "how long to go on, such as 10m (default: until Ctrl-C)",
  ...tlsOptions,
  ...networkOptions,
} as const;

type ProxyFlags = FlagsOf<typeof proxyOptions> & TrafficFlags;

const examples = `
Clients use the address that the proxy prints in the place of the server's. Ctrl-C ends the proxy, and prints the report.

Examples:
  conformance proxy --upstream https://staging.example.com/v1
  conformance proxy --upstream http://127.0.0.1:8787/v1 --port 9000 --for 10m --tier pro --html traffic.html
  conformance proxy --upstream https://staging.example.com/v1 --host 0.0.0.0 --tls-cert cert.pem --tls-key key.pem

Exit codes: 0 nothing broken; 1 a must is broken; 2 usage; 3 no exchange could be judged; 4 the harness itself failed, or an output could not
be written.`;

/** `conformance proxy`: forwards traffic to a server, and judges the server and its clients by that traffic. */
export function proxyCommand(): Command {
  const command = new Command("proxy");
  withOptions(command, proxyOptions, trafficOptions, formatOptions(["report", "exchanges"]));
  return withSteps(command.addHelpText("after", examples), { prepare, act, present });
}

function prepare(flags: ProxyFlags) {
  if (flags.upstream === undefined) throw new UsageError(line`Give the server with --upstream URL.`);
  const baseUrl = readBaseUrl(flags.upstream);
  return {
    flags,
    options: {
      baseUrl,
      network: networkFromFlags(flags),
      host: flags.host,
      port: readPort(flags.port),
      tls: readTls(flags.tlsCert, flags.tlsKey),
      ...readTrafficOptions(flags),
      tierName: "--tier",
    },
    forMs: flags.for === undefined ? null : readDuration(flags.for, "--for"),
    ...prepareReport(flags, new URL(baseUrl).host, "proxy-"),
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
  printLine(line`${proxy.baseUrl} passes everything on to ${options.baseUrl}. ${describeEnd(forMs)}`);
  await waitForEnd(forMs);
  if (flags.quiet !== true) printLine(line`${formatCount(proxy.count(), "exchange")} passed.`);
  return proxy.finish();
}

const describeEnd = (forMs: number | null): string =>
  forMs === null ? "Ctrl-C ends it with a report." : `It ends after ${forMs / 1000} s, or with Ctrl-C.`;

async function waitForEnd(forMs: number | null): Promise<void> {
  const controller = new AbortController();
  const release = stopOnSignal(controller);
  // Waits for a signal or until `forMs` has passed. The maximum is 24 days, Node's longest timer.
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
  // A report without exchanges can still have `observed` findings. `reportExitCode` counts these findings as exercised,
  // and would return 0.
  if (server.report.recording?.exchanges === 0) return exitCodes.nothingExercised;
  return decisiveExitCode([
    reportExitCode(server.report, rules, flags.complete === true),
    // `--complete` applies only to the server. The command tolerates clauses that the clients do not exercise.
    exitCodeOf(client.report, { strict: rules.strict, complete: false }) === exitCodes.broken
      ? exitCodes.broken
      : exitCodes.fine,
  ]);
}

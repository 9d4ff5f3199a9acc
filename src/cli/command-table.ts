import type { Command } from "commander";

interface TableRow {
  readonly summary: string;
  readonly load: () => Promise<Command>;
}

/** All commands, in the order of `--help`. Each command is loaded only if needed, because its imports take time. */
export const commandTable: Readonly<Record<string, TableRow>> = {
  run: {
    summary: "Judge a target; without one, the embedded reference server.",
    load: async () => (await import("./commands/run.ts")).runCommand(),
  },
  plan: {
    summary: "Show what a run would send, create, skip and wait for. Nothing is sent.",
    load: async () => (await import("./commands/plan.ts")).planCommand(),
  },
  init: {
    summary: "Ask about a target, discover it (only GET requests), and write a target file. Each question has a flag.",
    load: async () => (await import("./commands/init.ts")).initCommand(),
  },
  list: {
    summary: "List the clauses of the interface, and the checks of each.",
    load: async () => (await import("./commands/list.ts")).listCommand(),
  },
  explain: {
    summary: "Explain one clause: what it says, how it is judged, what is needed, what breaks it.",
    load: async () => (await import("./commands/explain.ts")).explainCommand(),
  },
  load: {
    summary: "Send load and judge rate limits by it; without a target, on the embedded reference server.",
    load: async () => (await import("./commands/load.ts")).loadCommand(),
  },
  receiver: {
    summary: "Judge a webhook receiver by the deliveries that the service would send.",
    load: async () => (await import("./commands/receiver.ts")).receiverCommand(),
  },
  client: {
    summary: "Judge a client, or its tests, by what it sends to the reference server, with trouble and without.",
    load: async () => (await import("./commands/client.ts")).clientCommand(),
  },
  serve: {
    summary: "Serve the reference implementation of the interface, for people who write clients.",
    load: async () => (await import("./commands/serve.ts")).serveCommand(),
  },
  report: {
    summary: "Show a saved report, or write it in other formats. Nothing is sent, and nothing is judged again.",
    load: async () => (await import("./commands/report.ts")).reportCommand(),
  },
  judge: {
    summary: "Judge what was recorded: a HAR, saved evidence, or JSON lines of exchanges. Nothing is sent.",
    load: async () => (await import("./commands/judge.ts")).judgeCommand(),
  },
  proxy: {
    summary: "Stand between clients and a server, pass everything on, and judge the traffic while it goes on.",
    load: async () => (await import("./commands/proxy.ts")).proxyCommand(),
  },
  rejudge: {
    summary: "Judge the evidence of a saved report again, by the suites of this version. Nothing is sent.",
    load: async () => (await import("./commands/rejudge.ts")).rejudgeCommand(),
  },
  evidence: {
    summary: "Print a recorded exchange or delivery: its body or its headers, byte by byte.",
    load: async () => (await import("./commands/evidence.ts")).evidenceCommand(),
  },
  replay: {
    summary: "Send the requests of one failed check again, and compare the responses.",
    load: async () => (await import("./commands/replay.ts")).replayCommand(),
  },
  compare: {
    summary: "Compare two saved reports of runs, or two of load. Nothing is sent.",
    load: async () => (await import("./commands/compare.ts")).compareCommand(),
  },
  nightly: {
    summary: "Run, load, compare with earlier nights, and save the night.",
    load: async () => (await import("./commands/nightly.ts")).nightlyCommand(),
  },
  trend: {
    summary: "Write the trend page of a history that `conformance nightly` keeps. Nothing is sent.",
    load: async () => (await import("./commands/trend.ts")).trendCommand(),
  },
  watch: {
    summary: "Keep listening for webhook retries of a run with --watch, then judge again.",
    load: async () => (await import("./commands/watch.ts")).watchCommand(),
  },
  vendors: {
    summary: "Judge several deployments at the same time, and show them side by side.",
    load: async () => (await import("./commands/vendors.ts")).vendorsCommand(),
  },
  config: {
    summary: "Judge agent configuration files, in JSON or YAML. Nothing is sent.",
    load: async () => (await import("./commands/config.ts")).configCommand(),
  },
  baseline: {
    summary: "Print the failures of a saved report as a file of known failures.",
    load: async () => (await import("./commands/baseline.ts")).baselineCommand(),
  },
  verify: {
    summary: "Check a conformance statement against its report and evidence. Nothing is sent.",
    load: async () => (await import("./commands/verify.ts")).verifyCommand(),
  },
  registry: {
    summary: "Make a static site of a folder of statements. Each is verified first. Nothing is sent.",
    load: async () => (await import("./commands/registry.ts")).registryCommand(),
  },
  key: {
    summary: "Make a key pair that signs statements, and the list of keys to publish.",
    load: async () => (await import("./commands/key.ts")).keyCommand(),
  },
  completion: {
    summary: "Print a script that completes commands, flags and clause ids in bash, zsh or fish.",
    load: async () => (await import("./commands/completion.ts")).completionCommand(),
  },
  selftest: {
    summary: "Prove the suites: every fault is caught by exactly what it breaks, every variant passes.",
    load: async () => (await import("./commands/selftest.ts")).selftestCommand(),
  },
};

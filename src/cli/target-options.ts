import { type Command, Option } from "commander";

/** Flags that name a target; shared by every command that talks to one. */
export function withTargetOptions(command: Command): Command {
  return command
    .addOption(
      new Option("--base-url <url>", "address of the deployment, with or without /v1 (or CONFORMANCE_BASE_URL)"),
    )
    .addOption(new Option("--api-key <key>", "API key (better: CONFORMANCE_API_KEY, which no process list shows)"))
    .option("--tier <tier>", "tier of that key: free, pro or team (otherwise its headers tell, where they can)")
    .option("--agent <id>", "agent that answers (otherwise found through the list)")
    .option("--target <file>", "target file: more keys, agents, a test clock")
    .option("--receiver-listen <host:port>", "where the harness listens for deliveries; port 0 takes a free one")
    .option("--receiver-url <url>", "address under which the target reaches it, such as a tunnel's");
}

/** What every command takes that plans a run. */
export interface SelectionFlags {
  readonly only: readonly string[];
  readonly skip: readonly string[];
  readonly maxRequests?: string;
  readonly maxWait: string;
  readonly readOnly?: boolean;
}

const collect = (value: string, before: readonly string[]): string[] => [...before, value];

/** Flags that say which part of the suites runs, and within which bounds. */
export function withSelectionOptions(command: Command): Command {
  return command
    .option("--only <pattern>", "only these clauses, checks or suites; globs allowed (repeatable)", collect, [])
    .option("--skip <pattern>", "all but these (repeatable)", collect, [])
    .option("--max-requests <n>", "send no more than this (default: 1000 where the target is not on loopback)")
    .option("--max-wait <duration>", "wait no longer than this, all in all, for rate-limit windows to pass", "2m")
    .option("--read-only", "send nothing but GET; what needs more is skipped");
}

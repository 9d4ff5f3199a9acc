import { type Command, Option } from "commander";

import { joinWithOr } from "../base/text.ts";
import { withNetworkOptions } from "./network-flags.ts";
import { publishedTierNames } from "../spec/tiers.ts";

/** Flags that name a target; shared by every command that talks to one. */
export function withTargetOptions(command: Command): Command {
  const withTarget = command
    .addOption(
      new Option("--base-url <url>", "address of the deployment, with or without /v1 (or CONFORMANCE_BASE_URL)"),
    )
    .addOption(new Option("--api-key <key>", "API key (better: CONFORMANCE_API_KEY, which no process list shows)"))
    .option(
      "--tier <tier>",
      `tier of that key: ${joinWithOr(publishedTierNames)} (otherwise its headers tell, where they can)`,
    )
    .option("--agent <id>", "agent that answers (otherwise found through the list)")
    .option("--target <file>", "target file: more keys, agents, a test clock")
    .option("--receiver-listen <host:port>", "where the harness listens for deliveries; port 0 takes a free one")
    .option("--receiver-url <url>", "address under which the target reaches it, such as a tunnel's");
  return withNetworkOptions(withTarget);
}

import { assertCommand } from "../app/client/client-session.ts";
import { type ClientVariables, judgeClient as judgeByCommand } from "../app/client/judge-client.ts";
import { line, UsageError } from "../base/line.ts";
import { type TroubleName, troubleDescriptions } from "../gateway/trouble.ts";
import { type Judged, judgedOrThrow } from "./judge.ts";
import { libraryMessages } from "./scope.ts";

/** Options of {@link judgeClient}. Every option has a default. */
export interface JudgeClientOptions {
  /** Names of errors and unusual responses to inject, such as `429`; empty for none. Default: all {@link troubles}. */
  readonly troubles?: readonly string[];
  /** Seed of the random choice of requests that get injected errors. Default: 1. */
  readonly seed?: number;
  /**
   * Whether every wrong request breaks its clause. Default: `false`: most wrong requests are only noted, because a
   * client's tests may send them on purpose.
   */
  readonly strictRequests?: boolean;
  /** Maximum time for one run of the command, in milliseconds. Default: two minutes. */
  readonly timeoutMs?: number;
  /** Names of the environment variables that give the command the server's address, an agent and credentials. */
  readonly variables?: Partial<ClientVariables>;
  /** When this signal aborts, the command ends. The harness judges the requests so far, if the first run was over. */
  readonly signal?: AbortSignal;
}

const defaultVariables: ClientVariables = {
  baseUrl: "AGENT_BASE_URL",
  apiKey: "AGENT_API_KEY",
  agent: "AGENT_ID",
  signingSecret: "AGENT_SIGNING_SECRET",
};

/** Names of the errors and unusual responses that {@link judgeClient} can inject, such as `429`, `reset` and `crlf`. */
export const troubles: readonly string[] = Object.keys(troubleDescriptions);

/**
 * Runs a client against the reference server and judges its requests, as `conformance client` does.
 * @param command program and arguments, such as `["node", "client.ts"]`
 * @throws {UsageProblem} if the command or an option cannot be used
 * @throws {NothingToJudge} if the command sends nothing, or its first run fails or is aborted
 */
export async function judgeClient(
  command: readonly [program: string, ...args: string[]],
  options: JudgeClientOptions = {},
): Promise<Judged> {
  assertCommand(command);
  const { seed = 1, strictRequests = false, timeoutMs = 120_000, signal = new AbortController().signal } = options;
  if (!Number.isSafeInteger(seed) || seed < 0)
    throw new UsageError(line`seed is ${String(seed)}; give a whole number.`);
  const judged = await judgeByCommand({
    command,
    troubles: (options.troubles ?? troubles).map(parseTroubleName),
    seed,
    isStrict: strictRequests,
    timeoutMs,
    showsOutput: false,
    variables: { ...defaultVariables, ...options.variables },
    tls: null,
    messages: libraryMessages,
    signal,
    progress: {},
    onFailure() {},
  });
  return judgedOrThrow(judged);
}

function parseTroubleName(name: string): TroubleName {
  if (Object.hasOwn(troubleDescriptions, name)) return name as TroubleName;
  throw new UsageError(line`troubles has ${JSON.stringify(name)}, which is no trouble. Known: ${troubles.join(", ")}.`);
}

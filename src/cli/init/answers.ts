import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";

import type { ControlParts, DiscoveredTarget } from "../../app/init/discover.ts";
import {
  type ChosenAgents,
  type UserGivenPaths,
  type KnownQueries,
  queryRoles,
  suggestAgents,
  type UserAnswersBeforeDiscovery,
} from "../../app/init/propose-target-file.ts";
import { errorCodeOrText } from "../../base/errors.ts";
import { hideKeys, line, UsageError } from "../../base/line.ts";
import { checkFolderWritable } from "../../base/files/output-folders.ts";
import { replaceFile } from "../../base/files/replace-file.ts";
import { withoutUndefined } from "../../base/json.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import { nonEmpty, joinFirst } from "../../base/text.ts";
import { publishedTierNames } from "../../spec/tiers.ts";
import { readBaseUrl } from "../../target/base-url.ts";
import type { EnvironmentVariables } from "../../target/network-settings.ts";
import { checkedKey } from "../../target/target-file.ts";
import { type FlagsOf, readChoice } from "../options.ts";
import { networkFlagsOf, networkFromFlags, networkOptions, targetOptions } from "../target-flags.ts";
import type { Prompter } from "./dialog.ts";

export const initOptions = {
  "--base-url <url>": "address of the deployment, with or without /v1 (or CONFORMANCE_BASE_URL)",
  "--name <name>": "name of the target (otherwise its host)",
  "--key-variable <name>": "environment variable that holds the API key (otherwise CONFORMANCE_API_KEY)",
  "--control-token-variable <name>":
    "environment variable with the token of the target's test control, which is asked for clock, deployments, agents",
  "--api-key <key>": "the API key, if no variable holds it; it is not written",
  "--tier <tier>": targetOptions["--tier <tier>"],
  "--agent <id>": "agent that answers (otherwise a healthy one of the list)",
  "--streaming-agent <id>": "agent that streams",
  "--failing-prompt <text>": "a query with which that agent fails, if you know one",
  "--slow-prompt <text>": "a query that takes some seconds to answer",
  "--slow-stream-prompt <text>": "a query that is streamed for some seconds",
  "--failing-stream-prompt <text>": "a query whose stream fails in the middle",
  "--batch-path <path>": "where a batch is posted, below the base URL; {agent_id} stands for an agent",
  "--operation-path <path>": "where a long-running operation is started, if not by a batch",
  "--out <file>": "file to write (otherwise target.json)",
  "--yes": "write without asking",
  ...networkOptions,
  "--force": "replace the file if it exists",
} as const;

export type InitFlags = FlagsOf<typeof initOptions>;

const defaultVariable = "CONFORMANCE_API_KEY";
const defaultOut = "target.json";

/**
 * Collects the answers to the questions of `conformance init` from flags and environment variables. Asks the user for
 * missing answers. Without a prompter, uses defaults, but requires `--yes`, the base URL and the key.
 */
export async function gatherAnswers(
  flags: InitFlags,
  environment: EnvironmentVariables,
  prompter: Prompter | null,
): Promise<UserAnswersBeforeDiscovery> {
  const network = {
    network: networkFromFlags(flags, environment),
    networkSettings: networkFlagsOf(flags).network,
  };
  const given = { ...flags, baseUrl: flags.baseUrl ?? nonEmpty(environment["CONFORMANCE_BASE_URL"]) };
  if (prompter === null) assertAnswersGiven(given, environment);
  const ask = prompter === null ? answerByFallback : prompter.ask;
  const baseUrl =
    given.baseUrl === undefined
      ? await ask({ text: "Base URL of the deployment", fallback: null, read: readBaseUrl })
      : readBaseUrl(given.baseUrl);
  const name = flags.name ?? (await ask({ text: "Name of the target", fallback: new URL(baseUrl).host, read: String }));
  const keyVariable =
    flags.keyVariable ??
    (await ask({
      text: "Environment variable that holds the API key",
      fallback: defaultVariable,
      read: readVariable,
    }));
  const known = flags.apiKey ?? nonEmpty(environment[keyVariable]);
  const key =
    known === undefined
      ? await ask({
          text: `$${keyVariable} is not set; the API key (it is neither shown nor written)`,
          fallback: null,
          read: (answer) => checkedKey(answer, "The API key"),
          isHidden: true,
        })
      : checkedKey(known, `$${keyVariable}`);
  const out =
    flags.out ??
    (await ask({
      text: "File to write",
      fallback: defaultOut,
      read: (answer) => readOut(answer, flags.force === true),
    }));
  return { baseUrl, name, keyVariable, key, out, ...network };
}

const answerByFallback: Prompter["ask"] = async ({ fallback, read }) => read(fallback ?? "");

function assertAnswersGiven(
  { baseUrl, keyVariable = defaultVariable, apiKey, yes }: InitFlags,
  environment: EnvironmentVariables,
): void {
  const key = apiKey ?? nonEmpty(environment[keyVariable]);
  const missing = [
    ...(baseUrl === undefined ? ["--base-url"] : []),
    ...(key === undefined ? [`the key in $${keyVariable} (or another variable, named by --key-variable)`] : []),
    ...(yes === true ? [] : ["--yes"]),
  ];
  if (missing.length > 0) throw new UsageError(line`There is no terminal to ask on. Give ${missing.join(", ")}.`);
}

export interface GivenControlToken {
  readonly variable: string;
  readonly token: string;
}

export function readControlToken(flags: InitFlags, environment: EnvironmentVariables): GivenControlToken | null {
  const variable = flags.controlTokenVariable;
  if (variable === undefined) return null;
  const token = nonEmpty(environment[readVariable(variable)]);
  if (token === undefined)
    throw new UsageError(line`$${variable} is not set: --control-token-variable takes the token from it.`);
  return { variable, token: checkedKey(token, `$${variable}`) };
}

export function assertInitFlags(flags: InitFlags): void {
  const { baseUrl, keyVariable, name, tier, out } = flags;
  if (baseUrl !== undefined) readBaseUrl(baseUrl);
  if (keyVariable !== undefined) readVariable(keyVariable);
  if (name === "") throw new UsageError(line`--name is empty; give the target a name.`);
  readChoice(tier, "--tier", publishedTierNames);
  if (out !== undefined) readOut(out, flags.force === true);
  for (const path of [flags.batchPath, flags.operationPath]) if (path !== undefined) readPath(path);
}

function readVariable(text: string): string {
  if (/^[A-Za-z_]\w*$/.test(text) && text !== "seconds" && hideKeys(text) === text) return text;
  // The message does not show `text`, because the user could have typed the key itself.
  throw new UsageError(
    line`This is no name for an environment variable. Give one like ${defaultVariable}, not the key itself.`,
  );
}

function readOut(path: string, mayReplace: boolean): string {
  if (path === "") throw new UsageError(line`--out is empty. Give a file.`);
  if (!canWriteIn(dirname(resolve(path))))
    throw new UsageError(line`The folder of ${path} is not there, or cannot be written. Give another file (--out).`);
  if (mayReplace || !existsSync(path)) return path;
  throw new UsageError(line`${path} is there already. Give another file (--out), or --force to replace it.`);
}

function canWriteIn(folder: string): boolean {
  try {
    checkFolderWritable(folder);
    return true;
  } catch {
    return false;
  }
}

export async function chooseAgents(
  flags: InitFlags,
  { discovered, control }: { readonly discovered: DiscoveredTarget; readonly control: ControlParts },
  prompter: Prompter | null,
  redact: (text: string) => string,
): Promise<ChosenAgents> {
  const suggested = { ...suggestAgents(discovered), ...controlledAgents(control) };
  const listed = (id: string): string => requireListedAgent(id, discovered, redact);
  const choose = async (flag: string | undefined, text: string, fallback: string | null): Promise<string | null> => {
    if (flag !== undefined) return listed(flag);
    if (prompter === null || flags.yes === true) return fallback;
    return prompter.ask({
      text,
      fallback: fallback ?? "",
      read: (answer) => (answer === "" || answer === "-" ? null : listed(answer)),
    });
  };
  return {
    answering: await choose(flags.agent, "Agent that answers an invoke (- for none)", suggested.answering),
    streaming: await choose(flags.streamingAgent, "Agent that answers a stream (- for none)", suggested.streaming),
  };
}

function controlledAgents({ agents = {} }: ControlParts): Partial<ChosenAgents> {
  const { answering, streaming } = agents;
  return {
    ...(typeof answering === "string" && { answering }),
    ...(typeof streaming === "string" && { streaming }),
  };
}

const maxIds = 20;

export function requireListedAgent(
  id: string,
  { agents, hasAllAgents }: Pick<DiscoveredTarget, "agents" | "hasAllAgents">,
  redact: (text: string) => string,
): string {
  if (!hasAllAgents || agents.some((agent) => agent.id === id)) return id;
  const ids = agents.map((agent) => sanitizeLine(redact(agent.id), 60));
  const known = ids.length === 0 ? "it is empty" : `it has ${joinFirst(ids, maxIds)}`;
  throw new UsageError(line`The target's list has no agent ${JSON.stringify(sanitizeLine(redact(id), 60))}: ${known}.`);
}

export async function askPrompts(
  flags: InitFlags,
  chosen: ChosenAgents,
  prompter: Prompter | null,
): Promise<KnownQueries> {
  const known: Record<string, string | undefined> = {
    failing: flags.failingPrompt,
    slow: flags.slowPrompt,
    slowStreaming: flags.slowStreamPrompt,
    failingInStream: flags.failingStreamPrompt,
  };
  if (prompter !== null && flags.yes !== true && chosen.answering !== null)
    for (const [role, { behaviour }] of Object.entries(queryRoles))
      known[role] ??= await askOptional(`A query with which an agent ${behaviour}`, prompter);
  return withoutUndefined(known);
}

const pathQuestions = {
  batch: "Path that takes a batch, below the base URL, such as /agents/{agent_id}/batch",
  operation: "Path that starts a long-running operation with the body of an invoke",
} as const satisfies Record<keyof UserGivenPaths, string>;

export async function askPaths(flags: InitFlags, prompter: Prompter | null): Promise<UserGivenPaths> {
  const known: Record<string, string | undefined> = { batch: flags.batchPath, operation: flags.operationPath };
  if (prompter !== null && flags.yes !== true)
    for (const [name, question] of Object.entries(pathQuestions))
      known[name] ??= await askOptional(question, prompter, readPath);
  return withoutUndefined(known);
}

const askOptional = (
  question: string,
  prompter: Prompter,
  read: (answer: string) => string = String,
): Promise<string | undefined> =>
  prompter.ask({
    text: `${question} (- for none)`,
    fallback: "-",
    read: (answer) => (answer === "-" || answer === "" ? undefined : read(answer)),
  });

function readPath(path: string): string {
  if (path.startsWith("/")) return path;
  throw new UsageError(line`The path ${JSON.stringify(path)} must begin with /, as in /agents/{agent_id}/batch.`);
}

export function writeFileAtomically(path: string, text: string, mayReplace: boolean): void {
  if (!mayReplace && existsSync(path))
    throw new UsageError(line`${path} was created meanwhile; nothing was written. --force replaces it.`);
  try {
    replaceFile(path, text);
  } catch (error) {
    throw new UsageError(line`${path} cannot be written (${errorCodeOrText(error)}). Give another file with --out.`);
  }
}

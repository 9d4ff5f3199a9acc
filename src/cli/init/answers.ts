import { accessSync, constants, existsSync } from "node:fs";
import { dirname, resolve } from "node:path";

import type { Network } from "../../base/network/network.ts";
import { publishedTierNames, publishedTiers } from "../../spec/tiers.ts";
import { readBaseUrl } from "../../target/base-url.ts";
import { readKey } from "../../target/file.ts";
import type { NetworkSettings } from "../../target/network.ts";
import { type NetworkFlagValues, networkFlagsOf, networkFromFlags } from "../network-flags.ts";
import { UsageError } from "../../base/usage-error.ts";
import type { Prompter } from "./prompter.ts";
import { readPath } from "./paths.ts";

/** Everything that can be asked has a flag. */
export interface InitFlags extends NetworkFlagValues {
  readonly baseUrl?: string | undefined;
  readonly apiKey?: string | undefined;
  readonly keyVariable?: string | undefined;
  readonly name?: string | undefined;
  readonly tier?: string | undefined;
  readonly agent?: string | undefined;
  readonly streamingAgent?: string | undefined;
  readonly failingPrompt?: string | undefined;
  readonly slowPrompt?: string | undefined;
  readonly slowStreamPrompt?: string | undefined;
  readonly failingStreamPrompt?: string | undefined;
  readonly batchPath?: string | undefined;
  readonly operationPath?: string | undefined;
  readonly out?: string | undefined;
  readonly yes?: boolean;
  readonly force?: boolean;
}

/** What a person said before anything is sent. */
export interface Answers {
  /** As the harness uses it, ending in `/v1`. */
  readonly baseUrl: string;
  readonly name: string;
  /** Environment variable that holds the key; the key itself is never written. */
  readonly keyVariable: string;
  readonly key: string;
  readonly out: string;
  readonly network: Network;
  /** What was said of the network on the command line: it goes into the file. */
  readonly saidNetwork: NetworkSettings;
}

type Environment = Readonly<Record<string, string | undefined>>;

export const standardVariable = "CONFORMANCE_API_KEY";
const standardOut = "target.json";

/**
 * Takes what the flags say, and asks for the rest.
 *
 * @param prompter `null` where there is nobody to ask
 * @throws {UsageError} where a flag cannot be used, or is missing and there is nobody to ask.
 */
export async function gatherAnswers(
  flags: InitFlags,
  environment: Environment,
  prompter: Prompter | null,
): Promise<Answers> {
  checkFlags(flags);
  const ways = { network: networkFromFlags(flags, environment), saidNetwork: networkFlagsOf(flags).network };
  const given = { ...flags, baseUrl: flags.baseUrl ?? nonEmpty(environment["CONFORMANCE_BASE_URL"]) };
  if (prompter === null) return { ...withoutAsking(given, environment), ...ways };
  const baseUrl =
    given.baseUrl === undefined
      ? await prompter.ask({ text: "Base URL of the deployment", fallback: null, read: readBaseUrl })
      : readBaseUrl(given.baseUrl);
  const name =
    flags.name ?? (await prompter.ask({ text: "Name of the target", fallback: new URL(baseUrl).host, read: String }));
  const keyVariable =
    flags.keyVariable ??
    (await prompter.ask({
      text: "Environment variable that holds the API key",
      fallback: standardVariable,
      read: readVariable,
    }));
  const known = flags.apiKey ?? nonEmpty(environment[keyVariable]);
  const key =
    known === undefined
      ? await prompter.ask({
          text: `$${keyVariable} is not set; the API key (it is neither shown nor written)`,
          fallback: null,
          read: (answer) => readKey(answer, "The API key"),
          isHidden: true,
        })
      : readKey(known, `$${keyVariable}`);
  const out =
    flags.out ??
    (await prompter.ask({
      text: "File to write",
      fallback: standardOut,
      read: (answer) => readOut(answer, flags.force === true),
    }));
  return { baseUrl, name, keyVariable, key, out, ...ways };
}

function withoutAsking(flags: InitFlags, environment: Environment): Omit<Answers, "network" | "saidNetwork"> {
  const { baseUrl, keyVariable = standardVariable, out = standardOut } = flags;
  const key = flags.apiKey ?? nonEmpty(environment[keyVariable]);
  const missing = [
    ...(baseUrl === undefined ? ["--base-url"] : []),
    ...(key === undefined ? [`the key in $${keyVariable} (or another variable, named by --key-variable)`] : []),
    ...(flags.yes === true ? [] : ["--yes"]),
  ];
  if (baseUrl === undefined || key === undefined || missing.length > 0)
    throw new UsageError(`There is no terminal to ask on. Give ${missing.join(", ")}.`);
  const address = readBaseUrl(baseUrl);
  return {
    baseUrl: address,
    name: flags.name ?? new URL(address).host,
    keyVariable,
    key: readKey(key, `$${keyVariable}`),
    out: readOut(out, flags.force === true),
  };
}

/** What is wrong with a flag is told before the first question. */
function checkFlags({ baseUrl, keyVariable, name, tier, out, force, batchPath, operationPath }: InitFlags): void {
  if (baseUrl !== undefined) readBaseUrl(baseUrl);
  if (keyVariable !== undefined) readVariable(keyVariable);
  if (name === "") throw new UsageError("--name is empty; give the target a name.");
  if (tier !== undefined && !Object.hasOwn(publishedTiers, tier))
    throw new UsageError(`--tier is ${JSON.stringify(tier)}; allowed: ${publishedTierNames.join(", ")}.`);
  if (out !== undefined) readOut(out, force === true);
  for (const path of [batchPath, operationPath]) if (path !== undefined) readPath(path);
}

/** A variable's name that a shell takes, and that a target file can name. */
function readVariable(text: string): string {
  if (/^[A-Za-z_]\w*$/.test(text) && text !== "seconds") return text;
  throw new UsageError(
    `${JSON.stringify(text)} is no name for an environment variable. Give one like ${standardVariable}, not the key itself.`,
  );
}

function readOut(path: string, mayReplace: boolean): string {
  if (!canWriteIn(dirname(resolve(path))))
    throw new UsageError(`The folder of ${path} is not there, or cannot be written. Give another file (--out).`);
  if (mayReplace || !existsSync(path)) return path;
  throw new UsageError(`${path} is there already. Give another file (--out), or --force to replace it.`);
}

function canWriteIn(folder: string): boolean {
  try {
    accessSync(`${folder}/`, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

const nonEmpty = (text: string | undefined): string | undefined => (text === "" ? undefined : text);

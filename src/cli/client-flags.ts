import { X509Certificate } from "node:crypto";

import type { ClientVariables, JudgeClientOptions } from "../app/client/judge-client.ts";
import { line } from "../base/line.ts";
import { UsageError } from "../base/usage-error.ts";
import { type TroubleName, troubleNames } from "../gateway/trouble.ts";
import { readTls } from "./serve/serve-options.ts";

/** Flags of `conformance client` that name environment variables, a certificate and the trouble to make. */
export interface ClientCommandFlags {
  readonly baseUrlVariable: string;
  readonly apiKeyVariable: string;
  readonly agentVariable: string;
  readonly signingSecretVariable: string;
  /** Comma-separated kinds of trouble; `false` for `--no-trouble`. Absent: all kinds. */
  readonly trouble?: string | boolean;
  readonly seed: string;
  readonly strictRequests?: boolean;
  readonly timeout: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly showOutput?: boolean;
}

const allTroubles = Object.keys(troubleNames) as readonly TroubleName[];

/**
 * Reads which kinds of trouble to make for the client.
 *
 * @throws {UsageError} if a kind is unknown
 */
export function readTroubles({ trouble }: Pick<ClientCommandFlags, "trouble">): readonly TroubleName[] {
  if (trouble === false) return [];
  if (trouble === undefined || trouble === true) return allTroubles;
  const names = trouble.split(",").map((each) => each.trim());
  return [...new Set(names.map(troubleNamed))];
}

function troubleNamed(name: string): TroubleName {
  const found = allTroubles.find((each) => each === name);
  if (found !== undefined) return found;
  throw new UsageError(
    line`--trouble has ${JSON.stringify(name)}, which is no trouble. Known: ${allTroubles.join(", ")}.`,
  );
}

/**
 * Reads the names of the environment variables that the client gets.
 *
 * @throws {UsageError} if one is not a valid name, or two are equal
 */
export function readVariables(flags: ClientCommandFlags): ClientVariables {
  const variables = {
    baseUrl: flags.baseUrlVariable,
    apiKey: flags.apiKeyVariable,
    agent: flags.agentVariable,
    signingSecret: flags.signingSecretVariable,
  };
  const names = Object.values(variables);
  const wrong = names.find((name) => !/^[A-Za-z_]\w*$/.test(name));
  if (wrong !== undefined) throw new UsageError(line`${JSON.stringify(wrong)} is no name of an environment variable.`);
  const double = names.find((name, at) => names.indexOf(name) !== at);
  if (double !== undefined) throw new UsageError(line`Two flags name the environment variable ${double}.`);
  return variables;
}

/**
 * Reads the certificate for HTTPS, and which host of this machine it names. Returns `null` without the flags.
 *
 * @throws {UsageError} if the certificate cannot be used
 */
export function readClientTls({ tlsCert, tlsKey }: ClientCommandFlags): JudgeClientOptions["tls"] {
  const files = readTls(tlsCert, tlsKey);
  if (files === null) return null;
  const certificate = new X509Certificate(files.cert);
  const host =
    certificate.checkIP("127.0.0.1") === undefined && certificate.checkHost("localhost") ? "localhost" : "127.0.0.1";
  return { ...files, host };
}

import { randomBytes, X509Certificate, createPrivateKey } from "node:crypto";
import { createSecureContext } from "node:tls";

import { readTextFile } from "../../base/read-file.ts";
import { isAddressRange } from "../../reference/addresses.ts";
import type { TlsFiles } from "../../reference/server/http.ts";
import { line } from "../../base/line.ts";
import { UsageError } from "../../base/usage-error.ts";

/** The flags of `conformance serve`. */
export interface ServeFlags {
  readonly port: string;
  readonly host: string;
  readonly fault: readonly string[];
  readonly variant: readonly string[];
  readonly agent: readonly string[];
  readonly virtualClock?: boolean;
  readonly clockToken?: string;
  readonly controlHost: readonly string[];
  readonly data?: string;
  readonly allowDeliveriesTo: readonly string[];
  readonly trustProxy: readonly string[];
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly writeTarget?: string;
  readonly quiet?: boolean;
}

/**
 * Reads `--port`. 0 stands for any free port.
 *
 * @throws {UsageError} if it is not a port number
 */
export function readPort(text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new UsageError(line`--port is ${JSON.stringify(text)}; give a number from 0 to 65535.`);
}

/**
 * Checks that each item is an IP address or a CIDR range.
 *
 * @throws {UsageError}
 */
export function readRanges(flag: string, ranges: readonly string[]): readonly string[] {
  const wrong = ranges.find((range) => !isAddressRange(range));
  if (wrong === undefined) return ranges;
  throw new UsageError(line`${flag} is ${JSON.stringify(wrong)}; give an address or a CIDR such as 10.0.0.0/8.`);
}

/**
 * The token that a client must send to change the clock or the deployments. `isGenerated`: the user did not choose the token, so it is
 * shown.
 */
export interface ControlToken {
  readonly token: string;
  readonly isGenerated: boolean;
}

const tokenVariable = "CONFORMANCE_CLOCK_TOKEN";

/**
 * Returns the control token from the flag or the environment, or generates one.
 *
 * @throws {UsageError} if an HTTP header cannot carry the token
 */
export function readToken(flag: string | undefined, environment: NodeJS.ProcessEnv): ControlToken {
  const given = flag ?? environment[tokenVariable];
  if (given === undefined) return { token: randomBytes(18).toString("base64url"), isGenerated: true };
  if (/^[\x21-\x7e]+$/.test(given)) return { token: given, isGenerated: false };
  const name = flag === undefined ? `$${tokenVariable}` : "--clock-token";
  throw new UsageError(line`${name} is empty, or holds blanks or characters that a header cannot carry.`);
}

/**
 * Reads the TLS certificate and its key; returns `null` if neither is given.
 *
 * @throws {UsageError} if only one is given, one cannot be read, or they do not belong together
 */
export function readTls(certPath: string | undefined, keyPath: string | undefined): TlsFiles | null {
  if (certPath === undefined && keyPath === undefined) return null;
  if (certPath === undefined || keyPath === undefined) {
    throw new UsageError(
      line`--tls-cert and --tls-key go together: give both, PEM files of a certificate and its key.`,
    );
  }
  const files = { cert: readTextFile(certPath, "--tls-cert"), key: readTextFile(keyPath, "--tls-key") };
  const certificate = parseOrThrow(() => new X509Certificate(files.cert), "--tls-cert", certPath, "a certificate");
  const key = parseOrThrow(() => createPrivateKey(files.key), "--tls-key", keyPath, "a private key without a password");
  if (!certificate.checkPrivateKey(key)) {
    throw new UsageError(line`The key does not fit the certificate: ${keyPath} is not the key of ${certPath}.`);
  }
  parseOrThrow(() => createSecureContext(files), "--tls-cert", certPath, "a certificate that can be served");
  return files;
}

function parseOrThrow<T>(parse: () => T, flag: string, path: string, wanted: string): T {
  try {
    return parse();
  } catch (error) {
    const why = error instanceof Error ? error.message.replaceAll(/\s+/g, " ") : String(error);
    throw new UsageError(line`${flag} is not ${wanted} in PEM: ${path} (${why}).`);
  }
}

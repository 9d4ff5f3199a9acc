import { X509Certificate, createPrivateKey } from "node:crypto";
import { createSecureContext } from "node:tls";

import { readTextFile } from "../base/read-file.ts";
import { type TlsCertificate } from "../reference/server/http.ts";
import { line, UsageError } from "../base/line.ts";

export const tlsOptions = {
  "--tls-cert <file>": "serve HTTPS with this certificate (PEM); needs --tls-key",
  "--tls-key <file>": "the certificate's key (PEM)",
} as const;

export function readPort(text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new UsageError(line`--port is ${JSON.stringify(text)}; give a number from 0 to 65535.`);
}

export function readTls(certPath: string | undefined, keyPath: string | undefined): TlsCertificate | null {
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

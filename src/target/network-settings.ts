import { readFileSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { createSecureContext } from "node:tls";

import { z } from "zod";

import { errorCodeOrText, messageOf } from "../base/errors.ts";
import { line, UsageError } from "../base/line.ts";
import type { Network, ProxyChoice } from "../base/network/network.ts";
import { isPercentDecodable } from "../base/http.ts";

const nonEmptyText = z.string().min(1);

export const networkSchema = z
  .strictObject({
    proxy: nonEmptyText
      .describe(
        "Address of the proxy that everything goes through, loopback too; `none` for no proxy. Without it HTTPS_PROXY, HTTP_PROXY and NO_PROXY hold, never for loopback.",
      )
      .optional(),
    ca: nonEmptyText
      .describe("File with the certificates of authorities of your own (PEM), trusted besides the machine's.")
      .optional(),
    clientCert: nonEmptyText
      .describe("File with the certificate that is shown where a server asks for one (PEM).")
      .optional(),
    clientKey: nonEmptyText.describe("File with the key of `clientCert` (PEM).").optional(),
  })
  .describe("The network between here and the target. Files are named as seen from this file.");

export type NetworkSettings = z.infer<typeof networkSchema>;

export type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

export interface NetworkSettingsSource {
  readonly nameOf: (part: keyof NetworkSettings) => string;
  readonly folder: string;
}

/** Reads the proxy and the certificate files. Without a `proxy`, HTTPS_PROXY, HTTP_PROXY and NO_PROXY apply. */
export function readNetwork(
  settings: NetworkSettings,
  { nameOf, folder }: NetworkSettingsSource,
  environment: EnvironmentVariables,
): Network {
  const pathOf = (part: "ca" | "clientCert" | "clientKey"): string | null => {
    const path = settings[part];
    return path === undefined || isAbsolute(path) ? (path ?? null) : join(folder, path);
  };
  const files = { ca: pathOf("ca"), cert: pathOf("clientCert"), key: pathOf("clientKey") };
  const read = (path: string | null, part: keyof NetworkSettings): string | null =>
    path === null ? null : readPem(path, nameOf(part));
  const ca = read(files.ca, "ca");
  const cert = read(files.cert, "clientCert");
  const key = read(files.key, "clientKey");
  if ((cert === null) !== (key === null))
    throw new UsageError(line`${nameOf("clientCert")} and ${nameOf("clientKey")} belong together: give both.`);
  const client = cert === null || key === null ? null : { cert, key };
  assertUsableCertificate({ ca }, nameOf("ca"));
  assertUsableCertificate(client ?? {}, `${nameOf("clientCert")} with ${nameOf("clientKey")}`);
  return { proxy: proxyOf(settings.proxy, nameOf("proxy"), environment), ca, client, files };
}

function readPem(path: string, name: string): string {
  try {
    const text = readFileSync(path, "utf8");
    if (text.includes("-----BEGIN ")) return text;
  } catch (error) {
    throw new UsageError(line`${name} cannot be read: ${path} (${errorCodeOrText(error)}).`);
  }
  throw new UsageError(line`${name} is no PEM file: ${path}. It begins with -----BEGIN.`);
}

function assertUsableCertificate(parts: { ca?: string | null; cert?: string; key?: string }, name: string): void {
  try {
    createSecureContext({ ...parts, ca: parts.ca ?? undefined });
  } catch (error) {
    throw new UsageError(line`${name} cannot be used: ${messageOf(error)}.`);
  }
}

function proxyOf(given: string | undefined, name: string, environment: EnvironmentVariables): ProxyChoice {
  if (given === "none") return { kind: "none" };
  if (given !== undefined) return { kind: "always", url: readProxy(given, name) };
  const http = readVariable(environment, "http_proxy");
  const https = readVariable(environment, "https_proxy");
  if (http === null && https === null) return { kind: "none" };
  const except = (readVariable(environment, "no_proxy")?.text ?? "").split(/[\s,]+/).filter((entry) => entry !== "");
  return { kind: "by address", http: proxyAddressOf(http), https: proxyAddressOf(https), except };
}

interface EnvironmentVariable {
  readonly name: string;
  readonly text: string;
}

/** Reads an environment variable. The lower-case name, such as `http_proxy`, takes precedence, as in curl. */
function readVariable(environment: EnvironmentVariables, name: string): EnvironmentVariable | null {
  for (const each of [name, name.toUpperCase()]) {
    const text = environment[each];
    if (text !== undefined && text !== "") return { name: `$${each}`, text };
  }
  return null;
}

const proxyAddressOf = (variable: EnvironmentVariable | null): string | null =>
  variable === null ? null : readProxy(variable.text, variable.name);

/** Reads a proxy's URL. Error messages do not repeat the URL, which may contain a password. */
function readProxy(text: string, name: string): string {
  const whole = /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  if (!URL.canParse(whole))
    throw new UsageError(line`${name} is no address of a proxy. Give it like http://proxy:3128.`);
  const { protocol, host, username, password } = new URL(whole);
  if (protocol !== "http:" && protocol !== "https:")
    throw new UsageError(line`${name} is a ${protocol.slice(0, -1)} proxy; the harness speaks to http and https ones.`);
  if (!isPercentDecodable(username) || !isPercentDecodable(password))
    throw new UsageError(line`${name} has a user name or password with a wrong percent-encoding. Write % as %25.`);
  const credentials = password === "" ? username : `${username}:${password}`;
  return `${protocol}//${credentials}${credentials === "" ? "" : "@"}${host}/`;
}

/** Returns the texts to redact: the proxy's password as written, decoded, and in Basic credentials. */
export function secretsOfNetwork({ proxy }: Network): string[] {
  const urls = proxy.kind === "always" ? [proxy.url] : proxy.kind === "by address" ? [proxy.http, proxy.https] : [];
  return urls.flatMap((url) => {
    const { username, password } = new URL(url ?? "http://none");
    if (password === "") return [];
    const [user, plain] = [decodeURIComponent(username), decodeURIComponent(password)];
    return [password, plain, Buffer.from(`${user}:${plain}`).toString("base64")];
  });
}

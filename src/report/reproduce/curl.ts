import type { Body, Exchange, Header, SentRequest } from "../../evidence/exchange.ts";
import { partMark } from "../../evidence/secret.ts";
import type { Report, ReportedConnection } from "../model/report.ts";
import { type ShellPiece, shellQuote, shellWord } from "../../base/shell-words.ts";

export interface CurlOptions {
  readonly shellVariableOf: (keyName: string) => string | undefined;
  /** Path of `evidence.json`. The curl command takes a body of more than 4,096 bytes from this file. */
  readonly evidenceFile: string;
  readonly connection: ReportedConnection | undefined;
}

export const webhookSecretVariable = "WEBHOOK_SECRET";

/** Returns a function that finds a key's shell variable: the one in the target file, or a default such as `PRO_KEY`. */
export const shellVariableFinder =
  ({ variables = {} }: Report["target"]): CurlOptions["shellVariableOf"] =>
  (name) =>
    Object.hasOwn(variables, name) ? variables[name] : shellVariableOfKey(name);

/** Returns the default shell variable for a key, such as `PRO_KEY` for `pro`; `undefined` e.g. for the name `1`. */
export function shellVariableOfKey(name: string): string | undefined {
  if (name.endsWith(partMark)) return undefined;
  if (name === "webhook secret") return webhookSecretVariable;
  if (name === "key") return "CONFORMANCE_API_KEY";
  const variable = `${name.toUpperCase().replace(/\W+/g, "_")}_KEY`;
  return /^[A-Z_]/.test(variable) ? variable : undefined;
}

/** Shell variable with the user and the password of the proxy, as `user:password`. */
const proxyUserVariable: ShellPiece = { kind: "variable", name: "PROXY_USER", withoutLast: false };

const maxInlineBytes = 4096;

/** Returns a curl command that sends a recorded request again; a shell comment if the recorded body is incomplete. */
export function curlCommand(exchange: Exchange, { shellVariableOf, evidenceFile, connection }: CurlOptions): string {
  const { request } = exchange;
  const body = curlBodyOf(exchange.id, request.body, evidenceFile, shellVariableOf);
  if (body.kind === "lost") return `# ${body.why}`;
  const word = (text: string): string => shellWord(shellPiecesOf(text, shellVariableOf));
  const parts = [
    [
      body.kind === "piped" ? `${body.command} | curl` : "curl",
      ...curlFlags(exchange),
      ...methodFlags(request),
      word(wireUrl(request.url)),
    ].join(" "),
    ...connectionFlags(request.url, connection),
    ...curlHeaders(request).map((line) => `-H ${word(line)}`),
    ...(body.kind === "none" ? [] : [body.kind === "inline" ? `--data-raw ${body.word}` : "--data-binary @-"]),
  ];
  return parts.join(" \\\n  ");
}

function curlFlags({ request, answer }: Exchange): string[] {
  const accepts = headerValues(request.headers, "accept").some((value) => value.includes("text/event-stream"));
  const isStream = accepts || (answer.kind === "answered" && answer.events.length > 0);
  const offersCoding = headerValues(request.headers, "accept-encoding").some((value) => value !== "identity");
  return [
    ...(request.method === "HEAD" ? ["-I"] : ["-i"]),
    ...(isStream ? ["-N"] : []),
    ...(offersCoding ? ["--compressed"] : []),
    // Without this flag, curl would prefer HTTP/2. The harness uses HTTP/1.1.
    ...(request.url.startsWith("https:") ? ["--http1.1"] : []),
    ...(/[[\]{}]/.test(wireUrl(request.url)) ? ["-g"] : []),
  ];
}

/** Returns the curl flags for the proxy and the certificates. `--noproxy ''` makes curl ignore `NO_PROXY`. */
function connectionFlags(url: string, { proxy, ca, cert, key }: ReportedConnection = {}): string[] {
  const flag = (name: string, file: string | undefined): string[] =>
    file === undefined ? [] : [`${name} ${shellQuote(file)}`];
  return [
    ...(proxy === undefined ? [] : [`-x ${shellQuote(proxy.url)} --noproxy ''`]),
    ...(proxy?.asksWho === true ? [`-U ${shellWord([proxyUserVariable])}`] : []),
    ...(proxy?.url.startsWith("https:") === true ? flag("--proxy-cacert", ca) : []),
    ...(url.startsWith("https:") ? [...flag("--cacert", ca), ...flag("--cert", cert), ...flag("--key", key)] : []),
  ];
}

function methodFlags({ method, body }: SentRequest): string[] {
  const implied = body.kind === "none" ? ["GET", "HEAD"] : ["POST"];
  return implied.includes(method) ? [] : ["-X", shellQuote(method)];
}

/** Returns the headers to pass to curl: the recorded headers, and more that keep curl from changing the request. */
function curlHeaders({ method, headers, body }: SentRequest): string[] {
  const isUnset = (name: string): boolean => headerValues(headers, name).length === 0;
  const bytes = body.kind === "none" ? 0 : body.bytes;
  return [
    ...headers.map(([name, value]) => (value === "" ? `${name};` : `${name}: ${value}`)),
    // With POST, PUT and PATCH, the harness sends `Content-Length: 0` for an empty body, but curl would not.
    ...(body.kind === "none" && /^(POST|PUT|PATCH)$/.test(method) && isUnset("content-length")
      ? ["Content-Length: 0"]
      : []),
    ...(isUnset("accept") ? ["Accept:"] : []),
    ...(isUnset("content-type") && body.kind !== "none" ? ["Content-Type:"] : []),
    // Prevents the header `Expect: 100-continue`, which curl adds to a large body.
    ...(isUnset("expect") && bytes > 1024 ? ["Expect:"] : []),
  ];
}

const headerValues = (headers: readonly Header[], name: string): string[] =>
  headers.filter(([each]) => each.toLowerCase() === name).map(([, value]) => value.toLowerCase());

type CurlBody =
  | { readonly kind: "none" }
  | { readonly kind: "inline"; readonly word: string }
  | { readonly kind: "piped"; readonly command: string }
  | { readonly kind: "lost"; readonly why: string };

function curlBodyOf(
  id: string,
  body: Body,
  evidenceFile: string,
  shellVariableOf: CurlOptions["shellVariableOf"],
): CurlBody {
  if (body.kind === "none") return body;
  if (body.kind === "cut")
    return {
      kind: "lost",
      why: `The body of ${body.bytes} bytes was not kept whole, so no command can send it again.`,
    };
  const command = printBodyCommand({ list: "exchanges", id, body, evidenceFile });
  if (command !== null) return { kind: "piped", command };
  return { kind: "inline", word: shellWord(shellPiecesOf(body.kind === "text" ? body.text : "", shellVariableOf)) };
}

interface RecordedBody {
  readonly list: "exchanges" | "deliveries";
  readonly id: string;
  readonly body: Extract<Body, { kind: "text" | "base64" }>;
  readonly evidenceFile: string;
}

/** Returns a shell command that prints a body byte for byte; `null` if curl can take the body as an argument. */
export function printBodyCommand({ list, id, body, evidenceFile }: RecordedBody): string | null {
  if (body.bytes > maxInlineBytes)
    return `${evidenceCommand(id, evidenceFile)}${list === "exchanges" ? " --request" : ""} --body`;
  if (body.kind === "base64") return `printf %s ${shellQuote(body.base64)} | base64 -d`;
  // A command line cannot contain NUL. Without NUL, curl can take the text as an argument.
  if (!body.text.includes("\0")) return null;
  return `printf %s ${Buffer.from(body.text, "utf8").toString("base64")} | base64 -d`;
}

export const readSecretCommand = (exchangeId: string, evidenceFile: string): string =>
  `${evidenceCommand(exchangeId, evidenceFile)} --secret`;

const evidenceCommand = (id: string, evidenceFile: string): string => {
  const folder = evidenceFile.replace(/\/?evidence\.json$/, "");
  return `${commandName} evidence ${shellQuote(folder === "" ? "." : folder)} ${shellQuote(id)}`;
};

const redactionMark = /\[redacted ([^\]]+?)(, its last character cut off)?\]/g;

function shellPiecesOf(text: string, shellVariableOf: CurlOptions["shellVariableOf"]): ShellPiece[] {
  const pieces: ShellPiece[] = [];
  let from = 0;
  for (const found of text.matchAll(redactionMark)) {
    const name = shellVariableOf(found[1] ?? "");
    if (name === undefined || !/^[A-Za-z_]\w*$/.test(name)) continue;
    pieces.push({ kind: "text", text: text.slice(from, found.index) });
    pieces.push({ kind: "variable", name, withoutLast: found[2] !== undefined });
    from = found.index + found[0].length;
  }
  return [...pieces, { kind: "text", text: text.slice(from) }];
}

/** Returns a URL as the HTTP client sends it, with `../..` resolved and special characters encoded. */
function wireUrl(url: string): string {
  if (!URL.canParse(url) || url.includes("[redacted ")) return url;
  const { origin, pathname, search } = new URL(url);
  return origin + pathname + search;
}

/** The beginning of each `conformance` command in a saved report. `npx` works on every machine with npm. */
export const commandName = "npx agent-hosting-conformance";

import { is2xx } from "../../base/http-status.ts";
import { type Exchange, type Header, statusOf, type Body } from "../../evidence/exchange.ts";
import { defaultKeyTraits, type TargetKey } from "../../target/target.ts";
import type { RecordedExchange } from "./recording.ts";

/** Name of every key that the recorder hid. Two requests with this name may have used different keys. */
export const hiddenKeyName = "hidden key";

/** Exchanges that refer to their keys by name, and the keys by name. */
export interface NamedExchanges {
  readonly exchanges: readonly RecordedExchange[];
  readonly keys: Readonly<Record<string, TargetKey>>;
  /** Whether the recording shows which requests used the same key: no key is hidden. */
  readonly areKnown: boolean;
}

/** The key of a request as the recording shows it: no key, a hidden key, a name in place of the key, or its value. */
type RecordedKey =
  | { readonly kind: "none" }
  | { readonly kind: "hidden" }
  /** The recorder replaced the key by a name, as this harness does in evidence. */
  | { readonly kind: "named"; readonly name: string }
  | { readonly kind: "shown"; readonly value: string };

/**
 * Gives each key a name, such as `key-1`, and each exchange the name of its key. If no request has a key, all count as
 * hidden: Chromium leaves the header out by default.
 */
export function nameKeys(recorded: readonly RecordedExchange[]): NamedExchanges {
  const shown = recorded.map(({ exchange }) => recordedKeyOf(exchange));
  const isLeftOut = shown.every(({ kind }) => kind === "none");
  const names = chooseKeyNames(shown);
  const exchanges = recorded.map((each, at): RecordedExchange => {
    const key = shown[at] ?? { kind: "none" };
    const isHidden = key.kind === "hidden" || isLeftOut;
    const name = isHidden ? hiddenKeyName : key.kind === "none" ? null : (names.get(keyIdentity(key)) ?? null);
    return {
      exchange: { ...each.exchange, key: name },
      gaps: isHidden ? [...each.gaps, "hidden key"] : each.gaps,
    };
  });
  const keys = shown.flatMap((key) => {
    const name = names.get(keyIdentity(key));
    return name === undefined ? [] : [[name, key.kind === "shown" ? key.value : ""] as const];
  });
  const good = usableKeyNames(exchanges.map(({ exchange }) => exchange));
  return {
    exchanges,
    keys: Object.fromEntries(keys.map(([name, value]) => [name, createTargetKey(name, value, good.has(name))])),
    areKnown: exchanges.every(({ exchange: { key } }) => key !== hiddenKeyName),
  };
}

const keyIdentity = (key: RecordedKey): string =>
  key.kind === "shown" ? `shown ${key.value}` : key.kind === "named" ? `named ${key.name}` : "";

function chooseKeyNames(shown: readonly RecordedKey[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  const given = new Set(shown.flatMap((key) => (key.kind === "named" ? [key.name] : [])));
  let count = 0;
  const next = (): string => {
    do count += 1;
    while (given.has(`key-${count}`));
    return `key-${count}`;
  };
  for (const key of shown)
    if ((key.kind === "shown" || key.kind === "named") && !names.has(keyIdentity(key)))
      names.set(keyIdentity(key), key.kind === "named" ? key.name : next());
  return names;
}

/**
 * Creates a target's key. A key that is not usable is marked as expired, so that checks draw no conclusion from its
 * requests.
 */
const createTargetKey = (name: string, key: string, isUsable: boolean): TargetKey => ({
  ...defaultKeyTraits,
  name,
  key,
  variable: "CONFORMANCE_API_KEY",
  expired: !isUsable,
});

/** Maximum number of keys that get a name. All further keys count as hidden. */
const maxNamedKeys = 5000;

/** Creates a namer, which gives each key of recorded exchanges a name when it first occurs: `key-1`, `key-2` and so on. */
export function createKeyNamer() {
  const known = new Map<
    string,
    { readonly name: string; readonly value: string; isAccepted: boolean; isRefused: boolean }
  >();
  return {
    /** Returns a copy of an exchange that has the name of its key. */
    named: (exchange: Exchange): Exchange => {
      const key = recordedKeyOf(exchange);
      if (key.kind !== "shown") return { ...exchange, key: key.kind === "none" ? null : hiddenKeyName };
      const found = known.get(key.value);
      if (found === undefined && known.size >= maxNamedKeys) return { ...exchange, key: hiddenKeyName };
      const entry = found ?? { name: `key-${known.size + 1}`, value: key.value, isAccepted: false, isRefused: false };
      known.set(key.value, entry);
      const status = statusOf(exchange) ?? 0;
      entry.isAccepted ||= is2xx(status);
      entry.isRefused ||= status === 401 || status === 403;
      return { ...exchange, key: entry.name };
    },
    keys: (): Readonly<Record<string, TargetKey>> =>
      Object.fromEntries(
        [...known.values()].map(({ name, value, isAccepted, isRefused }) => [
          name,
          createTargetKey(name, value, isAccepted && !isRefused),
        ]),
      ),
  };
}

/** Returns the names of usable keys: at least one response has a 2xx status, and none has 401 or 403. */
function usableKeyNames(exchanges: readonly Exchange[]): ReadonlySet<string> {
  const statuses = Map.groupBy(exchanges, ({ key }) => key ?? "");
  return new Set(
    [...statuses].flatMap(([name, own]) => {
      const all = own.map((each) => statusOf(each) ?? 0);
      return all.some(is2xx) && !all.some((status) => status === 401 || status === 403) ? [name] : [];
    }),
  );
}

const authorizationOf = (headers: readonly Header[]): string | undefined =>
  headers.find(([name]) => name.toLowerCase() === "authorization")?.[1];

function recordedKeyOf({ request, key }: Exchange): RecordedKey {
  const given = authorizationOf(request.headers)?.trim();
  if (given === undefined || given === "") return key === null ? { kind: "none" } : { kind: "named", name: key };
  const value = given.replace(/^[A-Za-z][A-Za-z0-9_-]*\s+/, "");
  const [, name] = /^\[redacted ([^\]]+)\]$/.exec(value) ?? [];
  if (name !== undefined) return { kind: "named", name: key ?? name };
  if (isHidden(value)) return key === null ? { kind: "hidden" } : { kind: "named", name: key };
  return { kind: "shown", value };
}

/** Matches texts that recorders write in place of a secret, such as `***` or `[REDACTED]`. */
const hiddenSecretPattern =
  /redact|remov|hidden|mask|saniti|censor|filtered|secret|omitted|\*{2,}|•|…|\.{3}|^x+$|^<.*>$|^\{.*\}$|^\[.*\]$|^\$/i;

const isHidden = (value: string): boolean => value === "" || hiddenSecretPattern.test(value);

/** Names, in lower case, of headers whose values are secrets. */
const secretHeaders: ReadonlySet<string> = new Set([
  "authorization",
  "proxy-authorization",
  "cookie",
  "set-cookie",
  "x-api-key",
  "api-key",
  "x-auth-token",
  "x-access-token",
  "x-csrf-token",
  "x-amz-security-token",
]);

const secretParameterName = /key|token|secret|signature|password|passwd|auth|session|code/i;

/**
 * Removes secrets from the places where they usually are: authorization headers, cookies, JSON fields, and URL
 * parameters that look like keys. Keys elsewhere are redacted later, with the report.
 */
export function withoutUsualSecrets(exchange: Exchange): Exchange {
  const { request, answer, key } = exchange;
  const clean = {
    ...exchange,
    request: {
      ...request,
      url: cleanUrl(request.url),
      headers: request.headers.map((each) => cleanHeader(each, key)),
      body: cleanBody(request.body),
    },
  };
  if (answer.kind !== "answered") return clean;
  const headers = answer.headers.map((each) => cleanHeader(each, null));
  return { ...clean, answer: { ...answer, headers, body: cleanBody(answer.body) } };
}

/** Matches the names of JSON fields that hold secrets, such as the secret of a webhook. */
const secretFieldName =
  /"((?:signing_|webhook_|client_)?secret|api_?key|access_token|refresh_token|password)"(\s*:\s*)"(?:[^"\\]|\\.)+"/gi;

const withoutFields = (text: string): string => text.replace(secretFieldName, '"$1"$2"[redacted]"');

function cleanBody(body: Body): Body {
  if (body.kind === "text") return { ...body, text: withoutFields(body.text) };
  return body.kind === "cut" ? { ...body, head: withoutFields(body.head), tail: withoutFields(body.tail) } : body;
}

function cleanHeader([name, value]: Header, key: string | null): Header {
  if (!secretHeaders.has(name.toLowerCase())) return [name, value];
  if (name.toLowerCase() !== "authorization") return [name, "[redacted]"];
  const [, scheme] = /^([A-Za-z][A-Za-z0-9_-]{0,20})\s/.exec(value) ?? [];
  const shown = key === null ? "[redacted]" : `[redacted ${key}]`;
  return [name, scheme === undefined ? shown : `${scheme} ${shown}`];
}

function cleanUrl(given: string): string {
  const url = new URL(given);
  const names = [...url.searchParams.keys()].filter((name) => secretParameterName.test(name));
  if (names.length === 0 && url.username === "" && url.password === "") return given;
  url.username = "";
  url.password = "";
  for (const name of names) url.searchParams.set(name, "redacted");
  return url.href;
}

import { is2xx, isKeyRefusal } from "../../base/http.ts";
import { type Body, type Exchange, type Header, headerValue, statusOf } from "../../evidence/exchange.ts";
import { defaultKeyTraits, type TargetKey } from "../../target/target.ts";
import type { RecordedExchange } from "./recording.ts";

/** The name for every key that the recorder hid. Two requests with this name may have used different keys. */
const hiddenKeyName = "hidden key";

type RecordedKey =
  | { readonly kind: "none" }
  | { readonly kind: "hidden" }
  /** The recording has the key's name instead of its value, as in the evidence files of this harness. */
  | { readonly kind: "named"; readonly name: string }
  | { readonly kind: "shown"; readonly value: string };

/** Names the key of each exchange. If no exchange has a key, as in archives by Chromium, all names are `hidden key`. */
export function nameKeys(recorded: readonly RecordedExchange[]) {
  const recordedKeys = recorded.map(({ exchange }) => recordedKeyOf(exchange));
  const isLeftOut = recordedKeys.every(({ kind }) => kind === "none");
  const namer = createKeyNamer(new Set(recordedKeys.flatMap((key) => (key.kind === "named" ? [key.name] : []))));
  const exchanges = recorded.map(({ exchange, gaps }): RecordedExchange => {
    const named = isLeftOut ? { ...exchange, key: hiddenKeyName } : namer.named(exchange);
    return { exchange: named, gaps: named.key === hiddenKeyName ? [...gaps, "hidden key"] : gaps };
  });
  const areKnown = exchanges.every(({ exchange: { key } }) => key !== hiddenKeyName);
  return { exchanges, keys: namer.keys(), areKnown };
}

/**
 * Creates a key of the recorded target. A key that the server refused, or never accepted, is marked as expired. So
 * checks of limits ignore it.
 */
const createTargetKey = (name: string, key: string, isUsable: boolean): TargetKey => ({
  ...defaultKeyTraits,
  name,
  key,
  variable: "CONFORMANCE_API_KEY",
  expired: !isUsable,
});

interface NamedKey {
  readonly name: string;
  readonly value: string;
  isAccepted: boolean;
  isRefused: boolean;
}

/**
 * Creates a namer for the keys of recorded exchanges. Keys with a recorded value are named `key-1`, `key-2` and so on.
 * Keys that the recording shows only by name keep that name.
 *
 * @param given names in the recording, which no `key-N` repeats; `null` to treat keys known only by name as hidden
 * @param maxKeys maximum number of named keys; all further keys are treated as hidden
 */
export function createKeyNamer(given: ReadonlySet<string> | null, maxKeys = Infinity) {
  const known = new Map<string, NamedKey>();
  let count = 0;
  const nextName = (): string => {
    do count += 1;
    while (given?.has(`key-${count}`) === true);
    return `key-${count}`;
  };
  const entryOf = (key: Extract<RecordedKey, { kind: "named" | "shown" }>): NamedKey | null => {
    const identity = key.kind === "named" ? `named ${key.name}` : `shown ${key.value}`;
    const found = known.get(identity);
    if (found !== undefined) return found;
    if (known.size >= maxKeys || (key.kind === "named" && given === null)) return null;
    const named = key.kind === "named" ? { name: key.name, value: "" } : { name: nextName(), value: key.value };
    const entry = { ...named, isAccepted: false, isRefused: false };
    known.set(identity, entry);
    return entry;
  };
  return {
    named: (exchange: Exchange): Exchange => {
      const key = recordedKeyOf(exchange);
      if (key.kind === "none") return { ...exchange, key: null };
      const entry = key.kind === "hidden" ? null : entryOf(key);
      if (entry === null) return { ...exchange, key: hiddenKeyName };
      const status = statusOf(exchange);
      entry.isAccepted ||= is2xx(status);
      entry.isRefused ||= isKeyRefusal(status);
      return { ...exchange, key: entry.name };
    },
    /** Returns the keys found so far. A key counts as usable if it got a 2xx, and neither a 401 nor a 403. */
    keys: (): Readonly<Record<string, TargetKey>> =>
      Object.fromEntries(
        known
          .values()
          .map(({ name, value, isAccepted, isRefused }) => [
            name,
            createTargetKey(name, value, isAccepted && !isRefused),
          ]),
      ),
  };
}

function recordedKeyOf({ request, key }: Exchange): RecordedKey {
  const given = headerValue(request.headers, "authorization")?.trim();
  if (given === undefined || given === "") return key === null ? { kind: "none" } : { kind: "named", name: key };
  const value = given.replace(/^[A-Za-z][A-Za-z0-9_-]*\s+/, "");
  const [, name] = /^\[redacted ([^\]]+)\]$/.exec(value) ?? [];
  if (name !== undefined) return { kind: "named", name: key ?? name };
  if (isHidden(value)) return key === null ? { kind: "hidden" } : { kind: "named", name: key };
  return { kind: "shown", value };
}

const hiddenSecretPattern =
  /redact|remov|hidden|mask|saniti|censor|filtered|secret|omitted|\*{2,}|•|…|\.{3}|^x+$|^<.*>$|^\{.*\}$|^\[.*\]$|^\$/i;

const isHidden = (value: string): boolean => value === "" || hiddenSecretPattern.test(value);

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
 * Removes secrets from known places, such as `Cookie` headers and `api_key` fields. The report later redacts secrets in
 * other places.
 */
export function redactKnownSecretFields(exchange: Exchange): Exchange {
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
  const redacted = key === null ? "[redacted]" : `[redacted ${key}]`;
  return [name, scheme === undefined ? redacted : `${scheme} ${redacted}`];
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

import type { Exchange, Header } from "../../evidence/exchange.ts";
import { sanitizeLine } from "../../base/sanitize.ts";
import { line, UsageError } from "../../base/line.ts";
import type { OutgoingRequest } from "../../wire/transport.ts";
import type { Secret } from "../../evidence/redaction.ts";
import { partMark } from "../../evidence/secret.ts";
import { nonEmpty, joinFirst } from "../../base/text.ts";
import { secretsOf } from "../judge/secrets.ts";
import { checkedKey } from "../../target/target-file.ts";
import type { Target } from "../../target/target.ts";
import { UseCaseError } from "../use-case-error.ts";

/** The base URL in the saved report (`from`), and the base URL for the new requests (`to`). Both end in `/v1`. */
interface BaseUrlChange {
  readonly from: string;
  readonly to: string;
}

export function rebuildRequest(kept: Exchange, move: BaseUrlChange, keys: ReplayKeys): OutgoingRequest {
  const { id, key, request } = kept;
  const headers = request.headers.map(([name, value]): Header => {
    const filled = withKeysRestored(value, keys);
    if (filled === null)
      throw cannotRebuild(
        id,
        `its header ${sanitizeLine(name, 60)} holds a secret that is no key of the target, or not as it was issued`,
      );
    return [name, filled];
  });
  return {
    method: request.method,
    url: urlBelowNewBase(kept, move),
    headers,
    body: bodyOf(kept),
    key,
    ...(wasClosedByHarness(kept) ? { closeWhen: (events) => events.length >= Math.max(1, eventsOf(kept)) } : {}),
  };
}

const cannotRebuild = (id: string, why: string): UsageError =>
  new UsageError(line`The request ${sanitizeLine(id, 40)} cannot be sent again: ${why}. Nothing was sent.`);

function bodyOf({ id, request: { body } }: Exchange): string | null {
  if (body.kind === "none") return null;
  if (body.kind === "cut") throw cannotRebuild(id, `of its body of ${body.bytes} bytes only the ends were kept`);
  if (body.kind === "base64") throw cannotRebuild(id, "its body is no UTF-8 text");
  if (/\[redacted [^\]]*\]/.test(body.text)) throw cannotRebuild(id, "a secret was redacted in its body");
  return body.text;
}

/** Moves a recorded URL to the new base URL. Throws if the request would send its key to another server. */
function urlBelowNewBase({ id, request: { url } }: Exchange, { from, to }: BaseUrlChange): string {
  if (/\[redacted [^\]]*\]/.test(url)) throw cannotRebuild(id, "a secret was redacted in its address");
  const origin = originOf(url);
  if (origin === null || origin !== originOf(from))
    throw cannotRebuild(
      id,
      `it went to ${sanitizeLine(origin ?? url, 80)}, and the report is of ${sanitizeLine(from, 80)}`,
    );
  const isWithin = url.startsWith(from) && /^([/?#]|$)/.test(url.slice(from.length));
  const again = isWithin ? to + url.slice(from.length) : withNewOrigin(url, to);
  if (originOf(again) !== originOf(to)) throw cannotRebuild(id, "its address leads elsewhere");
  return again;
}

function withNewOrigin(url: string, to: string): string {
  const { pathname, search } = new URL(url);
  return new URL(to).origin + pathname + search;
}

const originOf = (url: string): string | null => (URL.canParse(url) ? new URL(url).origin : null);

const wasClosedByHarness = ({ answer }: Exchange): boolean =>
  answer.kind === "answered" && answer.ending.kind === "closed by us";

const eventsOf = ({ answer }: Exchange): number => (answer.kind === "answered" ? answer.events.length : 0);

type Environment = Readonly<Record<string, string | undefined>>;

export interface KeySources {
  readonly target: Target | null;
  /** The API key that the user gave. Allowed only if the recorded run used a single key. */
  readonly apiKey: string | null;
  readonly environment: Environment;
  readonly shellVariableOf: (name: string) => string | undefined;
}

interface ReplayKeys {
  readonly values: ReadonlyMap<string, string>;
  readonly secrets: readonly Secret[];
  /**
   * Environment variables that the report names, and from which keys were read. A forged report could name variables
   * with other secrets, so the user may have to confirm the replay.
   */
  readonly variables: readonly string[];
}

const redactionMark = /\[redacted ([^\]]+?)(, its last character cut off)?\]/g;

/**
 * Finds the API keys that were redacted in the chosen requests. Throws if `sources.apiKey` is given, but the run used
 * several keys.
 */
export function findKeys(chosen: readonly Exchange[], all: readonly Exchange[], sources: KeySources): ReplayKeys {
  const names = new Set(chosen.flatMap(redactedKeyNames));
  const used = [...new Set(all.flatMap(({ key }) => key ?? []))];
  if (sources.apiKey !== null && used.length > 1)
    throw new UseCaseError({
      kind: "one key of several",
      names: joinFirst(used.map(shortName), 10),
      variables: [...names].map((name) => sources.shellVariableOf(name) ?? name).join(", "),
    });
  const found = [...names].map((name) => findKey(name, used.length <= 1, sources));
  const secrets = found.map(({ name, key }) => ({ name, value: key }));
  return {
    values: new Map(found.map(({ name, key }) => [name, key])),
    secrets: [...secrets, ...(sources.target === null ? [] : secretsOf(sources.target))],
    variables: found.flatMap(({ variable }) => variable ?? []),
  };
}

/**
 * Returns the names of the redacted keys in a request's headers, even if a key's last character was cut off. Leaves out
 * keys that were altered in another way, or redacted in part: these cannot be restored.
 */
const redactedKeyNames = ({ request }: Exchange): string[] =>
  request.headers
    .flatMap(([, value]) => [...value.matchAll(redactionMark)].map(([, name]) => name ?? ""))
    .filter((name) => !name.endsWith(partMark));

const shortName = (name: string): string => sanitizeLine(name, 40);

const singleKeyVariable = "CONFORMANCE_API_KEY";

function findKey(name: string, isOnly: boolean, { target, apiKey, environment, shellVariableOf }: KeySources) {
  const label = sanitizeLine(name, 60);
  if (target !== null) {
    const key = Object.hasOwn(target.keys, name) ? target.keys[name]?.key : undefined;
    if (key !== undefined) return { name, key, variable: null };
    throw new UsageError(
      line`The target file has no key ${JSON.stringify(label)}, which the requests were sent with; it has ${Object.keys(target.keys).join(", ")}.`,
    );
  }
  const only = isOnly ? (apiKey ?? nonEmpty(environment[singleKeyVariable])) : undefined;
  if (only !== undefined) return { name, key: checkedKey(only, "The API key"), variable: null };
  const variable = shellVariableOf(name);
  const value = variable === undefined ? undefined : nonEmpty(environment[variable]);
  if (variable !== undefined && value !== undefined) return { name, key: checkedKey(value, `$${variable}`), variable };
  throw new UseCaseError({ kind: "no key", name: label, variable: isOnly ? singleKeyVariable : (variable ?? null) });
}

function withKeysRestored(text: string, { values }: ReplayKeys): string | null {
  const filled = text.replace(redactionMark, (whole, name: string, cut: string | undefined) => {
    const key = values.get(name) ?? whole;
    return cut === undefined ? key : key.slice(0, -1);
  });
  return /\[redacted [^\]]*\]|\[withheld: /.test(filled) ? null : filled;
}

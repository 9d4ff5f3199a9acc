import { rateLimitHeaders } from "../spec/headers.ts";
import type { Behaviour } from "./behaviour/behaviour.ts";
import type { HeadInput } from "./behaviour/transport.ts";
import type { KeyTraits } from "./keys.ts";
import { editField, removeField, renameField, setField } from "./json-edit.ts";
import type { Override } from "./patch.ts";
import type { ErrorCause } from "./api-error.ts";
import type { Endpoint } from "./endpoint.ts";

// This file has the overrides that faults and variants of several sections share. A decision is a function of
// `Behaviour`.

type Arguments<D extends keyof Behaviour> = Parameters<Behaviour[D]>;
type Result<D extends keyof Behaviour> = ReturnType<Behaviour[D]>;

/** Edits the result of a decision. `edit` also receives the arguments of the decision. */
export const overrideResult =
  <D extends keyof Behaviour>(decision: D) =>
  (edit: (result: Result<D>, ...args: Arguments<D>) => Result<D>): Override =>
  (base) => {
    const decide = base[decision] as (...args: Arguments<D>) => Result<D>;
    return { [decision]: (...args: Arguments<D>) => edit(decide(...args), ...args) };
  };

/** The names of the decisions that return a JSON value. */
type JsonDecision = {
  [D in keyof Behaviour]: unknown extends Result<D> ? D : never;
}[keyof Behaviour];

/**
 * Edits the JSON value that a decision returns: the whole value, or the field at a path. `when` limits the edit to some
 * calls.
 */
export function overrideJson<D extends JsonDecision>(decision: D) {
  const edit = overrideResult(decision);
  const when = (matches: (...args: Arguments<D>) => boolean) =>
    fieldEdits((change) => edit((value, ...args) => (matches(...args) ? (change(value) as Result<D>) : value)));
  return Object.assign(edit, { ...when(() => true), when });
}

function fieldEdits(edit: (change: (value: unknown) => unknown) => Override) {
  return {
    set: (path: string, to: unknown) => edit((value) => setField(value, path, to)),
    change: (path: string, change: (old: unknown) => unknown) => edit((value) => editField(value, path, change)),
    remove: (...paths: readonly string[]) => edit((value) => paths.reduce<unknown>(removeField, value)),
    rename: (from: string, to: string) => edit((value) => renameField(value, from, to)),
  };
}

/** Replaces the status of successful responses of one endpoint. */
export function overrideSuccessStatus(endpoint: Endpoint, status: number): Override {
  return overrideResult("successStatus")((given, asked) => (asked === endpoint ? status : given));
}

/** Replaces the status of every third successful response of one endpoint. */
export const overrideThirdSuccessStatus =
  (endpoint: Endpoint, status: number): Override =>
  (base) => {
    let count = 0;
    return {
      successStatus: (asked, health) => {
        if (asked !== endpoint) return base.successStatus(asked, health);
        count += 1;
        return count % 3 === 0 ? status : base.successStatus(asked, health);
      },
    };
  };

/** Replaces the status of errors with these causes, on one endpoint or, without `on`, on all. */
export function overrideErrorStatus(causes: readonly ErrorCause[], status: number, on?: Endpoint): Override {
  return overrideResult("errorStatus")((given, ...asked) => (appliesTo(causes, on, ...asked) ? status : given));
}

/** Replaces the code of errors with these causes, on one endpoint or, without `on`, on all. */
export function overrideErrorCode(causes: readonly ErrorCause[], code: string, on?: Endpoint): Override {
  return overrideResult("errorCode")((given, ...asked) => (appliesTo(causes, on, ...asked) ? code : given));
}

/** Replaces the status and code of errors with these causes, on one endpoint or, without `on`, on all. */
export function overrideError(causes: readonly ErrorCause[], status: number, code: string, on?: Endpoint): Override {
  return (base) => ({ ...overrideErrorStatus(causes, status, on)(base), ...overrideErrorCode(causes, code, on)(base) });
}

function appliesTo(
  causes: readonly ErrorCause[],
  on: Endpoint | undefined,
  cause: ErrorCause,
  endpoint: Endpoint,
): boolean {
  return causes.includes(cause) && (on === undefined || on === endpoint);
}

/** Removes rate-limit headers from matching responses: those listed, by default all. */
export function withoutRateHeaders(
  matches: (head: HeadInput) => boolean,
  names: readonly string[] = rateLimitHeaders,
): Override {
  return overrideResult("rateHeaders")((headers, _window, _nowMs, head) =>
    headers.filter(([name]) => !matches(head) || !names.includes(name)),
  );
}

/** On the given endpoints, treats every key as if it had these restrictions instead of its own. */
export function withKeyTraits(operations: readonly Endpoint[], traits: Partial<KeyTraits>): Override {
  return (base) => ({
    permits: (key, request) =>
      base.permits(operations.includes(request.endpoint) ? { ...key, ...traits } : key, request),
  });
}

/** Accepts the expired keys that `who` selects, on the endpoints that `where` selects. */
export function acceptExpiredKeys(who: (key: KeyTraits) => boolean, where: (endpoint: Endpoint) => boolean): Override {
  return (base) => ({
    identify: (credentials, ring, nowMs, endpoint) => {
      const found = credentials.kind === "bearer" ? ring.find(credentials.text) : undefined;
      return found !== undefined && who(found.key) && where(endpoint)
        ? { kind: "known", key: found.key }
        : base.identify(credentials, ring, nowMs, endpoint);
    },
  });
}

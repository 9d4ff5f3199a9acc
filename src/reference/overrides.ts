import type { Behaviour } from "./behaviour/behaviour.ts";
import type { KeyTraits } from "./keys.ts";
import { editField, removeField, renameField, setField } from "./json-edit.ts";
import type { Override } from "./patch.ts";
import type { ErrorCause, Operation } from "./api-error.ts";

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

/** Edits the JSON value that a decision returns: the whole value, or the field at a path. `when` limits the edit to some calls. */
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

/** Replaces the status of success of one operation. */
export function overrideSuccessStatus(operation: Operation, status: number): Override {
  return overrideResult("successStatus")((given, asked) => (asked === operation ? status : given));
}

/** Replaces the status of every third success of one operation. */
export const overrideThirdSuccessStatus =
  (operation: Operation, status: number): Override =>
  (base) => {
    let count = 0;
    return {
      successStatus: (asked, health) => {
        if (asked !== operation) return base.successStatus(asked, health);
        count += 1;
        return count % 3 === 0 ? status : base.successStatus(asked, health);
      },
    };
  };

/** Replaces the status of errors with these causes. Without `on`, applies to every operation. */
export function overrideErrorStatus(causes: readonly ErrorCause[], status: number, on?: Operation): Override {
  return overrideResult("errorStatus")((given, ...asked) => (appliesTo(causes, on, ...asked) ? status : given));
}

/** Replaces the code of errors with these causes. Without `on`, applies to every operation. */
export function overrideErrorCode(causes: readonly ErrorCause[], code: string, on?: Operation): Override {
  return overrideResult("errorCode")((given, ...asked) => (appliesTo(causes, on, ...asked) ? code : given));
}

/** Replaces status and code of errors with these causes. Without `on`, applies to every operation. */
export function overrideError(causes: readonly ErrorCause[], status: number, code: string, on?: Operation): Override {
  return (base) => ({ ...overrideErrorStatus(causes, status, on)(base), ...overrideErrorCode(causes, code, on)(base) });
}

function appliesTo(
  causes: readonly ErrorCause[],
  on: Operation | undefined,
  cause: ErrorCause,
  operation: Operation,
): boolean {
  return causes.includes(cause) && (on === undefined || on === operation);
}

/** Treats every key as if it had these permissions, on the given operations. */
export function withKeyTraits(operations: readonly Operation[], traits: Partial<KeyTraits>): Override {
  return (base) => ({
    permits: (key, request) =>
      base.permits(operations.includes(request.operation) ? { ...key, ...traits } : key, request),
  });
}

/** Accepts expired keys that `who` selects, on operations that `where` selects. */
export function acceptExpiredKeys(
  who: (key: KeyTraits) => boolean,
  where: (operation: Operation) => boolean,
): Override {
  return (base) => ({
    identify: (credentials, ring, nowMs, operation) => {
      const found = credentials.kind === "bearer" ? ring.find(credentials.text) : undefined;
      return found !== undefined && who(found.key) && where(operation)
        ? { kind: "known", key: found.key }
        : base.identify(credentials, ring, nowMs, operation);
    },
  });
}

import type { Behaviour } from "./behaviour/behaviour.ts";
import type { KeyTraits } from "./keys.ts";
import type { Override } from "./patch.ts";
import type { ErrorCause, Operation } from "./api-error.ts";

// Changes of decisions that faults and variants of several sections are made of.

type Asked<D extends keyof Behaviour> = Parameters<Behaviour[D]>;
type Given<D extends keyof Behaviour> = ReturnType<Behaviour[D]>;

/** Edits what a decision gives, seeing what the decision was asked. */
export const overrideResult =
  <D extends keyof Behaviour>(decision: D) =>
  (edit: (given: Given<D>, ...asked: Asked<D>) => Given<D>): Override =>
  (base) => {
    const decide = base[decision] as (...asked: Asked<D>) => Given<D>;
    return { [decision]: (...asked: Asked<D>) => edit(decide(...asked), ...asked) };
  };

/** Answers success of one operation with another status. */
export function overrideSuccessStatus(operation: Operation, status: number): Override {
  return overrideResult("successStatus")((given, asked) => (asked === operation ? status : given));
}

/** Refuses with another status for these causes, on every operation or on one. */
export function overrideErrorStatus(causes: readonly ErrorCause[], status: number, on?: Operation): Override {
  return overrideResult("errorStatus")((given, ...asked) => (concerns(causes, on, ...asked) ? status : given));
}

/** Refuses with another code for these causes, on every operation or on one. */
export function overrideErrorCode(causes: readonly ErrorCause[], code: string, on?: Operation): Override {
  return overrideResult("errorCode")((given, ...asked) => (concerns(causes, on, ...asked) ? code : given));
}

/** Refuses with another status and another code. */
export function overrideError(causes: readonly ErrorCause[], status: number, code: string, on?: Operation): Override {
  return (base) => ({ ...overrideErrorStatus(causes, status, on)(base), ...overrideErrorCode(causes, code, on)(base) });
}

function concerns(
  causes: readonly ErrorCause[],
  on: Operation | undefined,
  cause: ErrorCause,
  operation: Operation,
): boolean {
  return causes.includes(cause) && (on === undefined || on === operation);
}

/** Takes every key, on these operations, for one of other traits. */
export function withKeyTraits(operations: readonly Operation[], traits: Partial<KeyTraits>): Override {
  return (base) => ({
    permits: (key, wish) => base.permits(operations.includes(wish.operation) ? { ...key, ...traits } : key, wish),
  });
}

/** Lets some keys in on some operations after their life. */
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

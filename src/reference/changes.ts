import type { Behaviour } from "./behaviour/behaviour.ts";
import type { KeyTraits } from "./keys.ts";
import type { Change } from "./patch.ts";
import type { Cause, Operation } from "./trouble.ts";

// Changes of decisions that faults and variants of several sections are made of.

type Asked<D extends keyof Behaviour> = Parameters<Behaviour[D]>;
type Given<D extends keyof Behaviour> = ReturnType<Behaviour[D]>;

/** Edits what a decision gives, seeing what the decision was asked. */
export const editing =
  <D extends keyof Behaviour>(decision: D) =>
  (edit: (given: Given<D>, ...asked: Asked<D>) => Given<D>): Change =>
  (base) => {
    const decide = base[decision] as (...asked: Asked<D>) => Given<D>;
    return { [decision]: (...asked: Asked<D>) => edit(decide(...asked), ...asked) };
  };

/** Answers success of one operation with another status. */
export function succeeding(operation: Operation, status: number): Change {
  return editing("successStatus")((given, asked) => (asked === operation ? status : given));
}

/** Refuses with another status for these causes, on every operation or on one. */
export function refusalStatus(causes: readonly Cause[], status: number, on?: Operation): Change {
  return editing("errorStatus")((given, ...asked) => (concerns(causes, on, ...asked) ? status : given));
}

/** Refuses with another code for these causes, on every operation or on one. */
export function refusalCode(causes: readonly Cause[], code: string, on?: Operation): Change {
  return editing("errorCode")((given, ...asked) => (concerns(causes, on, ...asked) ? code : given));
}

/** Refuses with another status and another code. */
export function refusedWith(causes: readonly Cause[], status: number, code: string, on?: Operation): Change {
  return (base) => ({ ...refusalStatus(causes, status, on)(base), ...refusalCode(causes, code, on)(base) });
}

function concerns(causes: readonly Cause[], on: Operation | undefined, cause: Cause, operation: Operation): boolean {
  return causes.includes(cause) && (on === undefined || on === operation);
}

/** Takes every key, on these operations, for one of other traits. */
export function permitting(operations: readonly Operation[], traits: Partial<KeyTraits>): Change {
  return (base) => ({
    permits: (key, wish) => base.permits(operations.includes(wish.operation) ? { ...key, ...traits } : key, wish),
  });
}

/** Lets some keys in on some operations after their life. */
export function livingOn(who: (key: KeyTraits) => boolean, where: (operation: Operation) => boolean): Change {
  return (base) => ({
    identify: (credentials, ring, nowMs, operation) => {
      const found = credentials.kind === "bearer" ? ring.find(credentials.text) : undefined;
      return found !== undefined && who(found.key) && where(operation)
        ? { kind: "known", key: found.key }
        : base.identify(credentials, ring, nowMs, operation);
    },
  });
}

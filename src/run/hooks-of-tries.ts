import type { Hook, Receiver } from "../receiver/receiver.ts";
import { firstRequirements, type RequirementSet } from "../spec/requirements.ts";

/** The webhook addresses that one try of a probe has opened. */
interface Try {
  readonly hooks: Hook[];
  isOver: boolean;
}

/**
 * Returns the receiver for each try of a probe. If an outage interrupted the first try, its webhooks may still exist.
 * Their deliveries are set aside, so that they do not mix with those of the new try.
 */
export function receiverByTry<P>(
  open: () => Promise<Receiver>,
  sinceOf: (each: P) => RequirementSet,
): (each: P) => () => Promise<Receiver> {
  const tries = new Map<P, Try>();
  return (each) => {
    const earlier = tries.get(each);
    if (earlier !== undefined) {
      earlier.isOver = true;
      for (const hook of earlier.hooks) hook.setAside();
    }
    const current: Try = { hooks: [], isOver: false };
    tries.set(each, current);
    return async () => {
      const receiver = await open();
      return {
        ...receiver,
        open: (name, plan) => {
          const since = sinceOf(each);
          const hook = receiver.open(name, since === firstRequirements ? plan : { ...plan, since });
          current.hooks.push(hook);
          // An interrupted try may still send for a while.
          if (current.isOver) hook.setAside();
          return hook;
        },
      };
    };
  };
}

import type { Hook, Receiver } from "../receiver/receiver.ts";
import { firstRequirements, type RequirementSet } from "../spec/requirements.ts";

/** The webhook addresses that a probe has opened in one try. A probe gets a second try if an outage interrupts it. */
interface ProbeAttempt {
  readonly hooks: Hook[];
  isOver: boolean;
}

/**
 * Returns the webhook receiver for each try of a probe. If an outage interrupted the first try, its webhooks still
 * exist on the target. Their deliveries are set aside, so that they do not mix with those of the second try.
 */
export function receiverByAttempt<P>(
  open: () => Promise<Receiver>,
  sinceOf: (each: P) => RequirementSet,
): (each: P) => () => Promise<Receiver> {
  const tries = new Map<P, ProbeAttempt>();
  return (each) => {
    const earlier = tries.get(each);
    if (earlier !== undefined) {
      earlier.isOver = true;
      for (const hook of earlier.hooks) hook.setAside();
    }
    const current: ProbeAttempt = { hooks: [], isOver: false };
    tries.set(each, current);
    return async () => {
      const receiver = await open();
      return {
        ...receiver,
        open: (name, plan) => {
          const since = sinceOf(each);
          const hook = receiver.open(name, since === firstRequirements ? plan : { ...plan, since });
          current.hooks.push(hook);
          // An interrupted try may still be running, and may open another address. Its deliveries are set aside as
          // well.
          if (current.isOver) hook.setAside();
          return hook;
        },
      };
    };
  };
}

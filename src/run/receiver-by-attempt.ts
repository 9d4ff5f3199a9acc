import type { Hook, Receiver } from "../receiver/receiver.ts";
import { firstRequirements, type RequirementSet } from "../spec/requirements.ts";

/**
 * One attempt of a probe, and the hooks that it has opened. A hook is an address of the webhook receiver. A probe gets
 * a second attempt if an outage interrupts the first.
 */
interface ProbeAttempt {
  readonly hooks: Hook[];
  isOver: boolean;
}

/**
 * Gives each attempt of a probe its own view of the webhook receiver. Webhooks of an interrupted attempt still exist on
 * the target. Their deliveries get names that no check reads, so that only those of the last attempt are judged.
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
          // An interrupted attempt may still be running and open another hook. No check reads the deliveries to it
          // either.
          if (current.isOver) hook.setAside();
          return hook;
        },
      };
    };
  };
}

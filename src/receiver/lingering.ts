/** Connections that are kept open on purpose. */
export interface Lingering {
  /** @param drop called where this one is the oldest of too many. Returns what to call when it has ended by itself. */
  readonly add: (drop: () => void) => () => void;
}

const mostLingering = 64;

export function openLingering(): Lingering {
  const open = new Set<() => void>();
  return {
    add: (drop) => {
      open.add(drop);
      const [oldest] = open;
      if (open.size > mostLingering && oldest !== undefined) {
        open.delete(oldest);
        oldest();
      }
      return () => void open.delete(drop);
    },
  };
}

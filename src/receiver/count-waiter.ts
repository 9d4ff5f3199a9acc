/** Lets callers wait until a count is reached. */
export interface CountWaiter {
  /** Resolves to `true` once the count is reached, to `false` after `realMs` or at the end. */
  readonly atLeast: (wanted: number, realMs: number) => Promise<boolean>;
  /** Must be called when the count has increased. */
  readonly look: () => void;
  /** Ends every wait. */
  readonly end: () => void;
}

export function createCountWaiter(count: () => number): CountWaiter {
  const waits = new Set<() => void>();
  let isOver = false;
  const wakeAll = (): void => {
    for (const wake of waits) wake();
  };

  const atLeast = (wanted: number, realMs: number): Promise<boolean> => {
    const isThere = (): boolean => count() >= wanted;
    if (isThere() || isOver) return Promise.resolve(isThere());
    return new Promise((resolve) => {
      const settle = (): void => {
        clearTimeout(timer);
        waits.delete(wake);
        resolve(isThere());
      };
      const wake = (): void => {
        if (isThere() || isOver) settle();
      };
      const timer = setTimeout(settle, realMs);
      waits.add(wake);
    });
  };

  return {
    atLeast,
    look: wakeAll,
    end: () => {
      isOver = true;
      wakeAll();
    },
  };
}

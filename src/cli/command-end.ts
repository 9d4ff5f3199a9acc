const endCallbacks = new Set<() => void>();

/** Registers a callback that runs when the command ends, whether it succeeds, fails or is interrupted. */
export const onCommandEnd = (step: () => void): void => void endCallbacks.add(step);

/** Runs the callbacks that were registered for the end of the command, each once. */
export function runEndCallbacks(): void {
  for (const step of endCallbacks) step();
  endCallbacks.clear();
}

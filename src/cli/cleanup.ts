const steps = new Set<() => void>();

/** Registers a step that runs when the command ends, however it ends. */
export const atEndOfCommand = (step: () => void): void => void steps.add(step);

/** Runs the registered steps, each once. */
export function cleanUp(): void {
  for (const step of steps) step();
  steps.clear();
}

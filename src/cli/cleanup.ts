const steps = new Set<() => void>();

/** Registers what must be done when the command ends, however it ends. */
export const atEndOfCommand = (step: () => void): void => void steps.add(step);

/** Does what was registered, once. */
export function cleanUp(): void {
  for (const step of steps) step();
  steps.clear();
}

/** A test or a group of tests, as far as we look at it. */
interface Task {
  readonly name: string;
  readonly mode: string;
  readonly tasks?: readonly Task[];
}

const isTask = (value: unknown): value is Task =>
  typeof value === "object" && value !== null && "mode" in value && "name" in value && typeof value.name === "string";

/**
 * Names of the tests that are going to run in a group, as a `beforeAll` hook is given it: not those that a filter leaves out.
 *
 * @returns `null` where it is no group: older versions of vitest give it elsewhere
 */
export const selectedTests = (group: unknown): ReadonlySet<string> | null =>
  isTask(group) && group.tasks !== undefined ? new Set(testsIn(group)) : null;

const testsIn = ({ name, mode, tasks }: Task): string[] => {
  if (tasks !== undefined) return tasks.flatMap(testsIn);
  return mode === "run" || mode === "queued" ? [name] : [];
};

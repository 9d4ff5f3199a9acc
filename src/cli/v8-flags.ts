import { setFlagsFromString } from "node:v8";

/**
 * Has V8 collect young garbage often, and not only where it comes to 96 MB, and old garbage before the heap has doubled. A run against somebody's
 * server waits for most of its time, and takes half of the memory so where that server sends much; what computes all the time, as with the
 * embedded server, would be a fifth slower.
 *
 * @param args of the command line, the command first
 */
export function collectGarbageOften([command, ...args]: readonly string[], baseUrl: string | undefined): void {
  const isSomebodys = (baseUrl ?? "") !== "" || args.some((each) => /^--(base-url|target)(=|$)/.test(each));
  if (command !== "run" || !isSomebodys) return;
  limitYoungGeneration();
  // V8 asks for this each time, too: the heap then grows by a third at the most before it looks at all of it.
  setFlagsFromString("--optimize-for-size");
}

/**
 * Has V8 leave the place for young garbage as large as loading the command has made it, some 8 MB: a run on the embedded server, or load, would
 * let it grow to 96 MB and more, and is no faster for it.
 */
export const limitYoungGeneration = (): void => setFlagsFromString("--semi-space-growth-factor=1");

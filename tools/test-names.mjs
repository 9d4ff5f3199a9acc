// Every test has a name of its own, so that a red one says which it is. Reads what vitest's JSON reporter wrote.
import { readFileSync } from "node:fs";

/**
 * Names that several tests share, and names into which a value was not written.
 *
 * @param {string} path of the results
 * @returns {string[]} a line for each
 */
export function faultyNames(path) {
  const { testResults } = JSON.parse(readFileSync(path, "utf8"));
  const files = Map.groupBy(
    testResults.flatMap(({ name: file, assertionResults }) => assertionResults.map((test) => ({ file, test }))),
    ({ test }) => test.fullName,
  );
  return [...files].flatMap(([name, tests]) => {
    const where = [...new Set(tests.map(({ file }) => file))].join(", ");
    if (tests.length > 1) return [`${tests.length} tests have the name ${JSON.stringify(name)}: ${where}`];
    return name.includes("[object ") ? [`A value is not written in the name ${JSON.stringify(name)}: ${where}`] : [];
  });
}

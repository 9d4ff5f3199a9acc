// Checks vitest's JSON results. Test names must be unique, so that a failure report identifies the test.
import { existsSync, readFileSync } from "node:fs";

/** Returns the results by test file; none if vitest was stopped and wrote no file. The step `tests` reports that. */
function resultsIn(path) {
  return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")).testResults : [];
}

function testsIn(path) {
  return resultsIn(path).flatMap(({ name: file, assertionResults }) =>
    assertionResults.map((test) => ({ file, ...test })),
  );
}

/**
 * Finds names that several tests share, and names that contain `[object …` because a value was not formatted.
 *
 * @param {string} path of the results
 * @returns {string[]} a line for each name
 */
export function faultyNames(path) {
  // Avoids `Map.groupBy`, which older versions of Node lack.
  const byName = new Map();
  for (const test of testsIn(path)) byName.set(test.fullName, [...(byName.get(test.fullName) ?? []), test]);
  return [...byName].flatMap(([name, tests]) => {
    const where = `${JSON.stringify(name)}: ${[...new Set(tests.map(({ file }) => file))].join(", ")}`;
    if (tests.length > 1) return [`${tests.length} tests have the name ${where}`];
    return name.includes("[object ") ? [`a value is not written in the name ${where}`] : [];
  });
}

/**
 * Lists the tests that did not run.
 *
 * @param {string} path of the results
 * @returns {string[]} full names of the tests
 */
export function skippedTests(path) {
  return testsIn(path).flatMap(({ status, fullName }) =>
    status === "passed" || status === "failed" ? [] : [fullName],
  );
}

/**
 * Lists the failed tests, and the test files that could not be run.
 *
 * @param {string} path of the results
 * @returns {string[]} for each test, its name, its file, and the first line of the failure message
 */
export function failedTests(path) {
  return resultsIn(path).flatMap(({ name: file, status, message, assertionResults }) => {
    const failed = assertionResults.filter((test) => test.status === "failed");
    if (failed.length === 0) return status === "failed" ? [failureLine(file, "the file itself", message)] : [];
    return failed.map((test) => failureLine(file, test.fullName, test.failureMessages[0]));
  });
}

function failureLine(file, name, why) {
  return `  ${name} (${file})\n    ${(why ?? "").trim().split("\n", 1)[0].slice(0, 400)}`;
}

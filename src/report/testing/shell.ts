const main = new URL("../../cli/main.ts", import.meta.url).pathname;

/** A shell function `npx`, so that `npx agent-hosting-conformance` in a printed command runs this checkout. */
export const conformanceFunction = `npx() { shift; '${process.execPath}' '${main}' "$@"; }`;

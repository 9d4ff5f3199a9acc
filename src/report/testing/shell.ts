const main = new URL("../../cli/main.ts", import.meta.url).pathname;

/** Defines a shell function, so that `npx agent-hosting-conformance` in a printed command runs this checkout. */
export const conformanceFunction = `npx() { shift; '${process.execPath}' '${main}' "$@"; }`;

const main = new URL("../../cli/main.ts", import.meta.url).pathname;

/** A shell function that makes `conformance` in a printed command this checkout's. */
export const conformanceFunction = `conformance() { '${process.execPath}' '${main}' "$@"; }`;

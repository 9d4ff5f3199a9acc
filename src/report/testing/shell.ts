const main = new URL("../../cli/main.ts", import.meta.url).pathname;

/** Defines a shell function, so that `conformance` in a printed command runs this checkout. */
export const conformanceFunction = `conformance() { '${process.execPath}' '${main}' "$@"; }`;

/** The beginning of each `conformance` command in a saved report. It works on every machine with npm. */
export const commandName = "npx agent-hosting-conformance";

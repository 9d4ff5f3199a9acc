/** How a command of the harness begins in a saved report, so that the command works on every machine with npm. */
export const commandName = "npx agent-hosting-conformance";

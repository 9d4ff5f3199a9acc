/**
 * The start of a command of the harness in a report. It works wherever a saved report is read. A terminal shows the command as the harness was
 * started.
 */
export const commandName = "npx agent-hosting-conformance";

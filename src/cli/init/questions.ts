import type { InitFlags } from "./answers.ts";
import { readPath } from "./paths.ts";
import type { Prompter } from "./prompter.ts";
import { type ChosenAgents, type KnownPaths, type KnownPrompts, promptRoles } from "./proposal.ts";

// What no look at a target tells, and a person may know.

/** Most people cannot deploy an agent that fails, and know what to ask so that one does. */
export async function askPrompts(
  flags: InitFlags,
  chosen: ChosenAgents,
  prompter: Prompter | null,
): Promise<KnownPrompts> {
  const given: KnownPrompts = {
    ...(flags.failingPrompt !== undefined && { failing: flags.failingPrompt }),
    ...(flags.slowPrompt !== undefined && { slow: flags.slowPrompt }),
    ...(flags.slowStreamPrompt !== undefined && { slowStreaming: flags.slowStreamPrompt }),
    ...(flags.failingStreamPrompt !== undefined && { failingInStream: flags.failingStreamPrompt }),
  };
  if (prompter === null || flags.yes === true || chosen.answering === null) return given;
  const known: Record<string, string> = { ...given };
  for (const [role, { makes }] of Object.entries(promptRoles)) {
    if (known[role] !== undefined) continue;
    const text = `A query with which an agent ${makes} (- for none)`;
    const answer = await prompter.ask({ text, fallback: "-", read: String });
    if (answer !== "-" && answer !== "") known[role] = answer;
  }
  return known;
}

const pathsAsked = {
  batch: "Path that takes a batch, below the base URL, such as /agents/{agent_id}/batch (- for none)",
  operation: "Path that starts a long-running operation with the body of an invoke (- for none)",
} as const satisfies Record<keyof KnownPaths, string>;

/** The document leaves these paths open: flags first, then the person. */
export async function askPaths(flags: InitFlags, prompter: Prompter | null): Promise<KnownPaths> {
  const given = { batch: flags.batchPath, operation: flags.operationPath };
  const known: Record<string, string> = {};
  for (const [name, text] of Object.entries(pathsAsked)) {
    const path = given[name as keyof KnownPaths] ?? (await askPath(text, flags, prompter));
    if (path !== null) known[name] = path;
  }
  return known;
}

async function askPath(text: string, flags: InitFlags, prompter: Prompter | null): Promise<string | null> {
  if (prompter === null || flags.yes === true) return null;
  const read = (answer: string): string | null => (answer === "-" || answer === "" ? null : readPath(answer));
  return prompter.ask({ text, fallback: "-", read });
}

import { Command } from "commander";

import { line } from "../../base/line.ts";
import { joinWithOr } from "../../base/text.ts";
import { UsageError } from "../../base/usage-error.ts";
import { printResult, withSteps } from "../command.ts";
import { commandWords, type Shell, shells } from "../completion/command-words.ts";
import { completionScript } from "../completion/scripts.ts";

const examples = `
The script completes commands, flags, clause ids (after --only, --skip and explain), and the names of faults, variants, profiles and tiers.
Print it again after an update.

Examples:
  source <(conformance completion bash)                       in ~/.bashrc
  source <(conformance completion zsh)                        in ~/.zshrc, after compinit
  conformance completion fish | source                        in ~/.config/fish/config.fish

Exit codes: 0 printed; 2 wrong usage.`;

/** `conformance completion SHELL`: prints a script that completes command lines of this program. */
export const completionCommand = (): Command =>
  withSteps(new Command("completion").argument("<shell>", joinWithOr(shells)).addHelpText("after", examples), {
    prepare: (shell: string, _flags: object, command: Command) => ({
      shell: readShell(shell),
      program: command.parent ?? command,
    }),
    act: ({ shell, program }) => completionScript(shell, program.name(), commandWords(program)),
    present: printResult,
  });

function readShell(name: string): Shell {
  const shell = shells.find((each) => each === name);
  if (shell !== undefined) return shell;
  throw new UsageError(line`The shell is ${JSON.stringify(name)}; there is completion for ${joinWithOr(shells)}.`);
}

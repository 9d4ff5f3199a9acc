import { Command } from "commander";

import { exitCodes } from "../../base/process-end.ts";
import { withSteps } from "../command.ts";
import { withOptions } from "../options.ts";
import { printJson, selftest, type SelftestFlags, selftestOptions } from "../selftest/modes.ts";

const examples = `
Examples:
  conformance selftest
  conformance selftest --only 'SSE-*' --verbose
  conformance selftest --load
  conformance selftest --seeds 50 --seed 7
  conformance selftest --mutants
  conformance selftest --mutants --sample 1000 --seed 7
  conformance selftest --wire --count 1000 --seed 7
  conformance selftest --wire --seed 7 --mutant 12`;

/** `conformance selftest`: proves that each check can fail, and that legal behaviour passes. */
export const selftestCommand = (): Command =>
  withSteps(withOptions(new Command("selftest"), selftestOptions).addHelpText("after", examples), {
    prepare: (flags: SelftestFlags) => flags,
    act: selftest,
    present: ({ wrong, json, text }, flags) => {
      if (flags.json === true) printJson(json);
      else process.stdout.write(text);
      return wrong === 0 ? exitCodes.fine : exitCodes.broken;
    },
  });

import { readKeptRun } from "../app/folder/kept-run.ts";
import { UseProblem } from "../app/problem.ts";
import { judgeAgain } from "../app/rejudge/judge-again.ts";
import { documentOf } from "../app/session/read-document.ts";
import type { Judged } from "./judge.ts";
import { UsageProblem } from "./problems.ts";
import { libraryWording } from "./wording.ts";

/**
 * What the suites of this version say of the evidence that a run has kept, as `conformance rejudge` does. Nothing is sent, and nothing written.
 *
 * @param folder that `writeReport` or a command has written
 * @throws {UsageProblem} where it holds no report of a run with its evidence
 */
export function rejudge(folder: string): Judged {
  const { report, evidence } = keptIn(folder);
  const again = judgeAgain(report, evidence, libraryWording);
  return { verdict: again.verdict, report: again, evidence, document: documentOf(again, evidence) };
}

function keptIn(folder: string): ReturnType<typeof readKeptRun> {
  try {
    return readKeptRun(folder);
  } catch (error) {
    // The only thing of a folder that each way in says in its own words.
    if (error instanceof UseProblem)
      throw new UsageProblem(`${folder} is the report of a load run. Give that of a run.`);
    throw error;
  }
}

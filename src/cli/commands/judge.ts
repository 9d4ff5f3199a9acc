import { existsSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";

import { Command } from "commander";

import { judgeSavedLoad } from "../../app/load/judge-saved-load.ts";
import { judgeRecording } from "../../app/recording/judge-recording.ts";
import { readRecordedFile } from "../../app/recording/read-recording.ts";
import type { Recording } from "../../app/recording/recording.ts";
import { rejudgeRun } from "../../app/rejudge.ts";
import { documentOf, readSavedRun, type SavedRun } from "../../app/report-folder/saved-report.ts";
import { line, UsageError } from "../../base/line.ts";
import type { ReportDocument } from "../../report/model/report.ts";
import { readBaseUrl } from "../../target/base-url.ts";
import { withSteps } from "../command.ts";
import { decisiveExitCode } from "../../base/process-end.ts";
import { cliMessages } from "../messages.ts";
import { displayPath, prepareReportFolder } from "../output-files.ts";
import {
  formatOptions,
  prepareFormats,
  readFailurePolicy,
  readTrafficOptions,
  type TrafficFlags,
  trafficOptions,
} from "../report/report-flags.ts";
import { type FlagsOf, withOptions } from "../options.ts";
import { type PresentOptions, presentReport, reportExitCode } from "../report/present-report.ts";

const judgeOptions = {
  "--base-url <url>": "the server to judge (default: the one whose exchanges fit the interface best)",
} as const;

type JudgeFlags = FlagsOf<typeof judgeOptions> & TrafficFlags;

const examples = `
A FILE is a HAR (of a browser, Playwright, mitmproxy or this harness), JSON lines of exchanges, evidence.json, load evidence, or the folder
of a report: then it is judged again, as \`rejudge\` and \`load judge\` do. Each file is judged by itself. Keys are written nowhere.

Examples:
  conformance judge session.har
  conformance judge session.har --base-url https://api.example.com/v1 --tier pro --html session.html
  conformance judge team.har --tier key-1=free --tier key-2=pro --no-bodies
  conformance judge reports/2026-01-31T02-00-00-000Z-acme

Exit codes: 0 nothing broken; 1 a must is broken; 2 wrong usage, or a file that cannot be read; 3 nothing could be judged; 4 the harness
itself failed, or an output could not be written.`;

/** `conformance judge FILE…`: judges recorded traffic, saved runs and saved load evidence. */
export function judgeCommand(): Command {
  const command = new Command("judge").argument("<file...>", "recordings, or folders of reports");
  withOptions(command, judgeOptions, trafficOptions, formatOptions(["report", "exchanges"]));
  return withSteps(command.addHelpText("after", examples), { prepare, act, present });
}

type FileToJudge =
  | { readonly kind: "traffic"; readonly file: string; readonly recording: Recording; readonly folder: string }
  | { readonly kind: "saved run"; readonly folder: string; readonly saved: SavedRun }
  | { readonly kind: "load"; readonly path: string };

function prepare(files: readonly string[], flags: JudgeFlags) {
  const options = {
    baseUrl: flags.baseUrl === undefined ? null : readBaseUrl(flags.baseUrl),
    ...readTrafficOptions(flags),
    messages: cliMessages,
  };
  const formats = prepareFormats(flags);
  if (files.length > 1 && (formats.files.length > 0 || flags.out !== undefined))
    throw new UsageError(line`--out and formats are of one report: give one file, not ${files.length}.`);
  return { flags, options, formats, rules: readFailurePolicy(flags), work: files.map((file) => workOf(file, flags)) };
}

type Prepared = ReturnType<typeof prepare>;

function workOf(file: string, { out }: JudgeFlags): FileToJudge {
  const folder = folderOfReport(file);
  if (folder !== null) {
    const isLoad = existsSync(join(folder, "load"));
    return isLoad ? { kind: "load", path: folder } : { kind: "saved run", folder, saved: readSavedRun(folder) };
  }
  const read = readRecordedFile(file);
  if (read.kind === "load") return { kind: "load", path: file };
  return { ...read, file, folder: prepareReportFolder(out, basename(file).replace(/\.[a-z]+$/i, "")) };
}

function folderOfReport(path: string): string | null {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats?.isDirectory() === true) return path;
  const isEvidence = basename(path) === "evidence.json" && existsSync(join(dirname(path), "report.json"));
  return isEvidence ? dirname(path) : null;
}

interface Judged extends Pick<PresentOptions, "folder" | "save"> {
  readonly document: ReportDocument;
}

const act = ({ work, options, flags }: Prepared): Promise<Judged[]> =>
  Promise.all(work.map((each) => judgeOne(each, options, flags)));

async function judgeOne(work: FileToJudge, options: Prepared["options"], flags: JudgeFlags): Promise<Judged> {
  const { requirements } = options;
  if (work.kind === "load") return { document: judgeSavedLoad([work.path], 250, requirements), folder: null };
  const folder = displayPath(work.folder);
  if (work.kind === "saved run") {
    const { report, evidence } = work.saved;
    const chosen = flags.requirements === undefined ? {} : { requirements };
    return { document: documentOf(rejudgeRun(report, evidence, cliMessages, chosen), evidence), folder };
  }
  const run = await judgeRecording(work.recording, { ...options, file: basename(work.file) });
  return { document: documentOf(run.report, run.evidence), folder, save: { folder: work.folder, run } };
}

async function present(all: readonly Judged[], { flags, formats, rules }: Prepared): Promise<number> {
  const codes: number[] = [];
  for (const { document, ...shown } of all) {
    await presentReport(document, {
      ...shown,
      isQuiet: flags.quiet === true,
      formats,
      rules,
      reportsToCi: true,
    });
    codes.push(reportExitCode(document.report, rules, flags.complete === true));
  }
  return decisiveExitCode(codes);
}

import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { basename, join } from "node:path";

import { dayMs } from "../../base/duration.ts";
import { errorCodeOrText } from "../../base/errors.ts";
import { timeInName } from "../../base/files/output-folders.ts";
import { getPath } from "../../base/json.ts";
import { type Parsed, parseAs, parseJson } from "../../base/parsing.ts";
import { writeFiles, type WrittenFiles } from "../report-folder/write-files.ts";
import {
  type DamagedNight,
  type Night,
  type NightHistory,
  nightSchema,
  nightV1Format,
  nightV1Schema,
} from "../../report/history/night.ts";
import { contradictionIn } from "../../report/model/report-file.ts";

export const nightsFolder = (folder: string): string => join(folder, "nights");
export const reportFolder = (folder: string, id: string): string => join(folder, "reports", id);

export const trendPageFile = "trend.html";

/** Returns an id for a nightly run. The ids sort by time, and random digits make those of concurrent jobs different. */
export const newNightId = (started: Date): string => `${timeInName(started)}-${randomBytes(4).toString("hex")}`;

const nightFileName = /^\d{4}-\d\d-\d\dT[\d-]+Z-[0-9a-f]{8}\.json$/;
const unfinishedFileName = /\.new$/;

/** Reads all nightly runs. `damaged` lists unusable files, e.g. if a run started more than a day after `nowMs`. */
export function readHistory(folder: string, nowMs = Number.POSITIVE_INFINITY): NightHistory {
  const names = namesIn(nightsFolder(folder)).filter((name) => nightFileName.test(name));
  const read = names.map((name) => readEntry(folder, name, nowMs));
  return {
    nights: read
      .flatMap((each) => (each.kind === "night" ? [each.night] : []))
      .toSorted((one, other) => (one.id < other.id ? -1 : 1)),
    damaged: read.flatMap((each) => (each.kind === "night" ? [] : [each.damaged])),
  };
}

type NightEntry =
  | { readonly kind: "night"; readonly night: Night }
  | { readonly kind: "damaged"; readonly damaged: DamagedNight };

function readEntry(folder: string, name: string, nowMs: number): NightEntry {
  const file = join(nightsFolder(folder), name);
  const damaged = (problem: string): NightEntry => ({ kind: "damaged", damaged: { file, problem } });
  try {
    const read = parseNight(readFileSync(file, "utf8"));
    if (read.kind === "problem") return damaged(read.problem);
    const { id, started } = read.value;
    if (`${id}.json` !== name) return damaged("it is a copy: the entry in it has another name");
    if (Date.parse(started) > nowMs + dayMs) return damaged("it starts in the future, so a clock was wrong");
    const contradiction = contradictionIn(read.value);
    if (contradiction === null) return { kind: "night", night: read.value };
    const problem = `it contradicts itself: ${contradiction}`;
    return { kind: "damaged", damaged: { kind: "contradictory", file, problem } };
  } catch (error) {
    return damaged(`it cannot be read (${errorCodeOrText(error)})`);
  }
}

/** Writes a nightly run into a new file, so that concurrent jobs never overwrite each other's results. */
export const writeNight = (folder: string, night: Night): WrittenFiles =>
  writeFiles(nightsFolder(folder), { [`${night.id}.json`]: serializeNight(night) });

export const removeReports = (folder: string, id: string): void =>
  rmSync(reportFolder(folder, id), { recursive: true, force: true });

export interface Retention {
  readonly nights: number;
  readonly reports: number;
}

/**
 * Keeps the newest `keep.nights` nightly runs, and reports for the newest `keep.reports` of them. Also deletes
 * half-written files and reports without a nightly run, if these are older than a day.
 */
export function pruneHistory(folder: string, keep: Retention): void {
  const names = namesIn(nightsFolder(folder));
  const entries = names.filter((name) => nightFileName.test(name));
  const kept = newestNames(entries, keep.nights);
  for (const name of entries.slice(0, entries.length - kept.length)) {
    rmSync(join(nightsFolder(folder), name), { force: true });
    removeReports(folder, basename(name, ".json"));
  }
  for (const name of names.filter((each) => unfinishedFileName.test(each))) {
    const part = join(nightsFolder(folder), name);
    if (isOlderThanADay(part)) rmSync(part, { force: true });
  }
  const reports = namesIn(join(folder, "reports")).filter((name) => nightFileName.test(`${name}.json`));
  const isNight = (id: string): boolean => kept.includes(`${id}.json`);
  const keptReports = newestNames(reports.filter(isNight), keep.reports);
  for (const id of reports)
    if (isNight(id) ? !keptReports.includes(id) : isOlderThanADay(reportFolder(folder, id))) removeReports(folder, id);
}

const newestNames = (names: readonly string[], count: number): string[] =>
  names.slice(Math.max(0, names.length - count));

const isOlderThanADay = (path: string): boolean =>
  (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY) < Date.now() - dayMs;

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).toSorted();
  } catch (error) {
    if (errorCodeOrText(error) === "ENOENT") return [];
    throw error;
  }
}

export const serializeNight = (night: Night): string => `${JSON.stringify(night)}\n`;

export function parseNight(text: string): Parsed<Night> {
  const json = parseJson(text);
  if (json.kind === "problem")
    return { kind: "problem", problem: `it ${json.problem}; it may be half-written, or damaged` };
  const raw = json.value;
  return getPath(raw, "format") === nightV1Format ? parseAs(raw, nightV1Schema) : parseAs(raw, nightSchema);
}

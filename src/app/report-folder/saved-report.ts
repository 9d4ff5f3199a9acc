import { readFileSync, statSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import type { Evidence } from "../../evidence/evidence.ts";
import {
  contradictionInReport,
  readEvidence,
  readReport,
  serializeEvidenceChunks,
  serializeReport,
} from "../../report/model/report-file.ts";
import type { Report, ReportDocument } from "../../report/model/report.ts";
import { chunksWithDigest, type Digests, reportFileName, sha256Of } from "../../report/statement/statement.ts";
import { joinLines, line, type Line, UsageError } from "../../base/line.ts";
import { UseCaseError } from "../use-case-error.ts";
import { writeFiles, type WrittenFiles } from "./write-files.ts";
import { parseAs, parseJson } from "../../base/parsing.ts";
import { type LoadEvidence, loadEvidenceSchema } from "../../evidence/load-evidence.ts";
import { redactWebhookSecretsByText, withoutWebhookSecretsLazily } from "../judge/secrets.ts";
import { getPath, tryParseJson } from "../../base/json.ts";
import type { Body, Header } from "../../evidence/exchange.ts";
import { deliveryLines, exchangeLines } from "../../report/model/exchange-text.ts";

/** Report and evidence of a run. Keys are redacted. Webhook secrets are kept, because checks of signatures need them. */
export interface SavedRun {
  readonly report: Report;
  readonly evidence: Evidence;
}

export const readSavedRun = (folder: string): SavedRun =>
  withReadErrors(line`The report cannot be read: ${folder}`, "Give the folder that a run has written.", () => {
    if (!statSync(folder).isDirectory())
      throw new UsageError(line`${folder} is no folder. Give the folder that a run has written.`);
    const file = (name: string): [string, string] => [readFileSync(join(folder, name), "utf8"), join(folder, name)];
    const report = readReport(...file("report.json"));
    if (report.load !== undefined) throw new UseCaseError({ kind: "report of load", folder });
    return { report, evidence: readEvidence(...file("evidence.json")) };
  });

function withReadErrors<T>(failure: Line, advice: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof Error && "code" in error)
      throw new UsageError(joinLines([failure, line`(${String(error.code)}). ${advice}`], " "));
    throw error;
  }
}

/** Writes `evidence.json` and `report.json` into a folder. If the writing fails, uses a temporary folder. */
export function saveRun(folder: string, { report, evidence }: SavedRun): WrittenFiles & { readonly digests: Digests } {
  const { chunks, sha256 } = chunksWithDigest(() => serializeEvidenceChunks(evidence));
  const written = writeFiles(folder, { "evidence.json": chunks, "report.json": serializeReport(report) });
  return { ...written, digests: { "evidence.json": sha256() } };
}

export function digestsOfSaved(path: string, { evidence, load }: ReportDocument): Digests {
  const folder = folderOf(path);
  const names = evidence === null ? [...load.keys()] : ["evidence.json"];
  const files = names.length === 0 ? [] : [reportFileName, ...names];
  return Object.fromEntries(files.map((name) => [name, sha256Of(readFileSync(join(folder, name)))]));
}

export const folderOf = (path: string): string => (statSync(path).isDirectory() ? path : dirname(path));

/** Returns the folder of a run. `path` is the folder itself, or the `report.json` in the folder. */
export const runFolder = (path: string): string =>
  basename(path) === "report.json" && statSync(path, { throwIfNoEntry: false })?.isFile() === true
    ? dirname(path)
    : path;

/**
 * Reads a saved report with its evidence, without webhook secrets.
 *
 * @param path folder of a report, or a report file; any file but `report.json` is read without evidence
 */
export const readReportDocument = (path: string): ReportDocument => readReportAt(path, readWithEvidence);

export const readReportWithoutEvidence = (path: string): ReportDocument => readReportAt(path, readWithoutEvidence);

const readReportAt = (path: string, read: (file: string) => ReportDocument): ReportDocument =>
  withReadErrors(
    line`The report cannot be read: ${path}`,
    "Give the folder that a run has written, or its report.json.",
    () => read(statSync(path).isDirectory() ? join(path, reportFileName) : path),
  );

/** An error for a saved report whose verdict or totals do not follow from its findings. */
export class ContradictoryReport extends UsageError {}

function readConsistentReport(file: string): Report {
  const report = readReport(readFileSync(file, "utf8"), file);
  const contradiction = contradictionInReport(report);
  if (contradiction === null) return report;
  throw new ContradictoryReport(line`${file} contradicts itself: ${contradiction}. Give the report as it was written.`);
}

function readWithEvidence(file: string): ReportDocument {
  const report = readConsistentReport(file);
  if (basename(file) !== reportFileName) return { report, evidence: null, load: new Map() };
  const folder = dirname(file);
  return documentOf(report, readEvidenceOf(folder, report), readLoadEvidenceOf(folder, report));
}

function readWithoutEvidence(file: string): ReportDocument {
  const report = readConsistentReport(file);
  const isStandard = basename(file) === reportFileName && report.load === undefined;
  const evidence = isStandard ? readTextIfPresent(join(dirname(file), "evidence.json")) : null;
  return {
    report: evidence === null ? report : redactWebhookSecretsByText(report, evidence),
    evidence: null,
    load: new Map(),
  };
}

export function documentOf(
  report: Report,
  evidence: Evidence | null,
  load: ReadonlyMap<string, LoadEvidence> = new Map(),
): ReportDocument {
  if (evidence === null) return { report, evidence, load };
  return { ...withoutWebhookSecretsLazily(report, evidence), load };
}

function readEvidenceOf(folder: string, { load }: Report): Evidence | null {
  const file = join(folder, "evidence.json");
  const text = load === undefined ? readTextIfPresent(file) : null;
  return text === null ? null : readEvidence(text, file);
}

function readLoadEvidenceOf(folder: string, { load }: Report): ReadonlyMap<string, LoadEvidence> {
  const names = (load?.runs ?? []).map(({ evidence }) => evidence).filter((name) => isWithin(folder, name));
  return new Map(
    names.flatMap((name): [string, LoadEvidence][] => {
      const file = join(folder, name);
      const text = readTextIfPresent(file);
      return text === null ? [] : [[name, readLoadEvidence(text, file)]];
    }),
  );
}

/** Whether a file is in a report's folder. A forged report must not make the harness read other files. */
export const isWithin = (folder: string, name: string): boolean =>
  name !== "" && !relative(resolve(folder), resolve(folder, name)).startsWith("..");

function readLoadEvidence(text: string, file: string): LoadEvidence {
  const json = parseJson(text);
  if (json.kind === "problem") throw new UsageError(line`${file} ${json.problem}.`);
  const parsed = parseAs(json.value, loadEvidenceSchema);
  if (parsed.kind === "value") return parsed.value;
  throw new UsageError(line`${file} is no load evidence: ${parsed.problem}.`);
}

function readTextIfPresent(file: string): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}

/**
 * A part of a recorded exchange or delivery. `all`: the whole message, as findings show it. `secret`: the webhook
 * secret in the body of a request.
 */
export type MessagePart = "all" | "headers" | "body" | "secret";

export interface RecordedPartChoice {
  readonly path: string;
  readonly id: string;
  readonly part: MessagePart;
  /** Whether to read the exchange's request instead of its response. Has no effect on a delivery. */
  readonly isRequest: boolean;
}

export type RecordedPart =
  | { readonly kind: "bytes"; readonly bytes: Buffer }
  | { readonly kind: "lines"; readonly lines: readonly string[] };

export function readRecordedPart(choice: RecordedPartChoice): RecordedPart {
  const { exchanges, deliveries } = readRecordedEvidence(choice.path);
  const delivery = deliveries.find(({ id }) => id === choice.id);
  if (delivery !== undefined)
    return choice.part === "all"
      ? { kind: "lines", lines: deliveryLines(delivery) }
      : selectPart(delivery.request, choice);
  const exchange = exchanges.find(({ id }) => id === choice.id);
  if (exchange === undefined) throw new UsageError(missingMessageText(choice, exchanges.length, deliveries.length));
  if (choice.part === "all") return { kind: "lines", lines: exchangeLines(exchange) };
  if (choice.isRequest || choice.part === "secret") return selectPart(exchange.request, choice);
  if (exchange.answer.kind === "answered") return selectPart(exchange.answer, choice);
  throw new UsageError(line`${choice.id} has no response. Give --request for its request.`);
}

const missingMessageText = ({ path, id }: RecordedPartChoice, exchanges: number, deliveries: number) =>
  line`${path} has no exchange or delivery ${JSON.stringify(id)}. It has ${exchanges} exchanges and ${deliveries} deliveries; each finding names its own.`;

function readRecordedEvidence(path: string): Pick<Evidence, "exchanges" | "deliveries"> {
  return withReadErrors(line`The evidence cannot be read: ${path}`, "Give the folder that a run has written.", () => {
    const file = join(folderOf(path), "evidence.json");
    return readEvidence(readFileSync(file, "utf8"), file);
  });
}

interface RecordedMessage {
  readonly headers: readonly Header[];
  readonly body: Body;
}

function selectPart({ headers, body }: RecordedMessage, { id, part }: RecordedPartChoice): RecordedPart {
  if (part === "headers")
    return { kind: "bytes", bytes: Buffer.from(headers.map(([name, value]) => `${name}: ${value}\r\n`).join("")) };
  if (body.kind === "cut")
    throw new UsageError(line`The body of ${id} was not kept whole: it had ${body.bytes} bytes.`);
  const bytes = bytesOf(body);
  if (part !== "secret") return { kind: "bytes", bytes };
  const secret = getPath(tryParseJson(bytes.toString("utf8")), "secret");
  if (typeof secret === "string") return { kind: "bytes", bytes: Buffer.from(secret) };
  throw new UsageError(line`The request ${id} sets no secret of a webhook.`);
}

function bytesOf(body: Exclude<Body, { kind: "cut" }>): Buffer {
  if (body.kind === "none") return Buffer.alloc(0);
  return body.kind === "text" ? Buffer.from(body.text, "utf8") : Buffer.from(body.base64, "base64");
}

import { getPath, isObject } from "../../base/json.ts";
import { notationOf, parseSource, type Place, type Source } from "../../base/source/source.ts";
import type { ReportFinding } from "../../report/model/finding.ts";
import type { Report } from "../../report/model/report.ts";
import { type FileFinding, formatPath, judgeConfiguration } from "../../rules/configuration/judge.ts";
import { newestRequirementsOfAnyParty } from "../../spec/clause.ts";
import { assembleReport, findingDetails, shortHash } from "../report/assemble-report.ts";
import { errorCodeOrText } from "../../base/errors.ts";
import { line, UsageError } from "../../base/line.ts";
import { NotARegularFile, readRegularFile } from "../../base/read-file.ts";
import { bodyJson, endpointFields, envelopeContent, type Exchange } from "../../evidence/exchange.ts";
import { defaultQuery } from "../../run/discovery/discover-target.ts";
import { mainKey } from "../../run/plan/needs.ts";
import type { Client } from "../../run/send/client.ts";
import { isSegment } from "../../base/http.ts";
import { inShortSession } from "../../run/run-context.ts";
import { SkipError } from "../../run/skip-reason.ts";
import type { Target } from "../../target/target.ts";
import { redactorWithAlteredKeys } from "../judge/redactor.ts";
import { secretsOf } from "../judge/secrets.ts";

interface HostedObservations {
  readonly findings: readonly ReportFinding[];
  readonly requests: number;
}

const firstRequirementSet = "1.2";

export function judgeConfigurations(
  files: readonly ConfigurationFile[],
  started: Date,
  hosted: HostedObservations = { findings: [], requests: 0 },
): Report {
  const report = assembleReport({
    judging: {
      party: "file",
      requirements: newestRequirementsOfAnyParty,
      end: { kind: "planned" },
      unselected: [],
      load: null,
    },
    target: targetOf(files),
    started,
    finished: started,
    durationMs: 0,
    requests: hosted.requests,
    waitedMs: 0,
    findings: [...files.flatMap(findingsOf), ...repeatedIdFindings(files), ...hosted.findings],
    created: [],
  });
  const judged = new Set(report.findings.map(({ clause }) => clause));
  return { ...report, untestable: report.untestable.filter(({ clause }) => !judged.has(clause)) };
}

function targetOf(files: readonly ConfigurationFile[]): Report["target"] {
  const names = files.map(({ name }) => name);
  const values = files.map(({ source }) => source.value);
  const name = names.length <= 3 ? names.join(", ") : `${names.length} configuration files`;
  return { name, baseUrl: "", fingerprint: shortHash(JSON.stringify([names, values])), tiers: {} };
}

const findingsOf = (file: ConfigurationFile): ReportFinding[] =>
  judgeConfiguration(file.source).map((finding) => ({
    check: finding.check,
    clause: finding.clause,
    suite: file.name,
    level: finding.level,
    since: firstRequirementSet,
    ...resultOf(finding, file),
  }));

function resultOf(finding: FileFinding, { name, source }: ConfigurationFile): ReturnType<typeof findingDetails> {
  switch (finding.kind) {
    case "holds":
      return { outcome: "pass" };
    case "skipped":
      return { outcome: "skipped", reason: finding.reason };
    case "breach": {
      const { expected, actual, path } = finding;
      const breach = findingDetails({ kind: "breach", expected, actual, at: [] }, finding.level);
      return { ...breach, where: filePlace(name, source.placeOf(path)) };
    }
  }
}

const filePlace = (file: string, place: Place) => ({ file, line: place.line, column: place.column });

/** Reports an agent id that two files share as a note, not as a failure: two versions of an agent may share an id. */
function repeatedIdFindings(files: readonly ConfigurationFile[]): ReportFinding[] {
  const known = new Map<string, string>();
  return files.flatMap(({ name, source }): ReportFinding[] => {
    const id = getPath(source.value, "agent_id");
    if (typeof id !== "string") return [];
    const first = known.get(id);
    known.set(id, first ?? name);
    if (first === undefined || first === name) return [];
    const path = ["agent_id"];
    return [
      {
        check: "CFG-5/unique",
        clause: "CFG-5",
        suite: name,
        level: "advisory",
        since: firstRequirementSet,
        outcome: "note",
        expected: `${formatPath(path)}: another id than that of ${first}`,
        actual: JSON.stringify(id),
        where: filePlace(name, source.placeOf(path)),
      },
    ];
  });
}

interface ConfigurationFile {
  readonly name: string;
  readonly source: Source;
}

export function readAgentConfigurationFile(name: string): ConfigurationFile {
  const notation = notationOf(name);
  if (notation === null)
    throw new UsageError(line`${name} ends in none of .json, .yaml and .yml, so its notation is not known.`);
  const source = parseSource(readText(name), notation);
  if (source.kind === "value") return { name, source };
  const { place, problem } = source;
  throw new UsageError(line`${name}:${place.line}:${place.column}: the file ${problem}.`);
}

const maxConfigurationBytes = 1024 * 1024;

function readText(name: string): string {
  try {
    const text = readRegularFile(name, maxConfigurationBytes + 1);
    if (Buffer.byteLength(text) <= maxConfigurationBytes) return text;
  } catch (error) {
    const reason = error instanceof NotARegularFile ? "not a regular file" : errorCodeOrText(error);
    throw new UsageError(line`The configuration file cannot be read: ${name} (${reason}).`);
  }
  throw new UsageError(line`The configuration file ${name} exceeds 1 MiB.`);
}

const comparedFields = [
  { name: "agent_name", clause: "CFG-1", listed: ["agent_name", "name"] },
  { name: "framework", clause: "CFG-1", listed: ["framework"] },
  { name: "version", clause: "CFG-1", listed: ["version", "agent_version"] },
  { name: "description", clause: "CFG-3", listed: ["description"] },
] as const;

const maxWaitMs = 65_000;
const maxListedAgents = 50;

/** Invokes and inspects the agents of configuration files. Each finding shows a field's value in file and target. */
export async function observeHostedAgents(
  files: readonly ConfigurationFile[],
  target: Target,
  signal: AbortSignal,
): Promise<HostedObservations> {
  const key = mainKey(target);
  if (key === null)
    return { findings: files.map((file) => skippedRow(file, "the target has no key for general use")), requests: 0 };
  const redact = redactorWithAlteredKeys(secretsOf(target)).text;
  const maxRequests = 1 + 2 * files.length;
  return inShortSession({ target, key, maxRequests, maxWaitMs, signal }, async ({ client, recorder }) => {
    const findings = await observeFiles(files, client.begin());
    return {
      findings: findings.map((each) => ({ ...each, reason: redact(each.reason ?? "") })),
      requests: recorder.sent(),
    };
  });
}

async function observeFiles(files: readonly ConfigurationFile[], client: Client): Promise<ReportFinding[]> {
  const rows: ReportFinding[] = [];
  let listing: Exchange | null = null;
  for (const file of files)
    try {
      listing ??= await client.send("GET", `/agents?page=1&limit=${maxListedAgents}`);
      rows.push(...(await observeFile(file, listing, client)));
    } catch (error) {
      if (!(error instanceof SkipError)) throw error;
      rows.push(skippedRow(file, error.message));
    }
  return rows;
}

async function observeFile(file: ConfigurationFile, listing: Exchange, client: Client): Promise<ReportFinding[]> {
  const item = listItemOf(file, listing);
  const id = [getPath(file.source.value, "agent_id"), getPath(item, "agent_id"), getPath(item, "id")].find(
    (each): each is string => typeof each === "string" && isSegment(each),
  );
  if (id === undefined)
    return [skippedRow(file, "the file has no `agent_id`, and no agent on the first page of the list has its name")];
  const health = await client.health(id);
  const invoked = await client.invoke(id, { query: defaultQuery }, { noRetry: true });
  return comparedFields.map(({ name, clause, listed }) => {
    const hosted = [
      ...(name === "version"
        ? [
            ["health", formatResponseValue(health, "version")],
            ["invoke", formatResponseValue(invoked, "metadata", "agent_version")],
          ]
        : []),
      ["the list", formatValue(listed.map((each) => getPath(item, each)).find((each) => each !== undefined))],
    ];
    const hostedText = hosted.map(([where, what]) => `${where}: ${what}`).join("; ");
    return findingRow(file, `${clause}/hosted ${name}`, clause, {
      outcome: "observed",
      reason: `\`${name}\` of ${id}: the file: ${formatValue(getPath(file.source.value, name))}; ${hostedText}`,
    });
  });
}

function listItemOf(file: ConfigurationFile, listing: Exchange): unknown {
  const data = getPath(envelopeContent(bodyJson(listing)), "data");
  const items: readonly unknown[] = Array.isArray(data) ? data : [];
  const [id, agentName] = ["agent_id", "agent_name"].map((name) => getPath(file.source.value, name));
  const has =
    (value: unknown, ...names: readonly string[]) =>
    (item: unknown): boolean =>
      value !== undefined && isObject(item) && names.some((name) => item[name] === value);
  return items.find(has(id, "agent_id", "id")) ?? items.find(has(agentName, "agent_name", "name"));
}

function formatResponseValue(exchange: Exchange, ...path: readonly string[]): string {
  const { answer } = exchange;
  if (answer.kind === "unanswered") return `no response (${answer.detail})`;
  if (answer.status >= 300) return `status ${answer.status}`;
  return formatValue(getPath(endpointFields(bodyJson(exchange), path.slice(0, 1)), ...path));
}

const formatValue = (value: unknown): string => (value === undefined ? "nothing" : JSON.stringify(value).slice(0, 200));

const skippedRow = (file: ConfigurationFile, reason: string): ReportFinding =>
  findingRow(file, "CFG-1/hosted", "CFG-1", { outcome: "skipped", reason });

const findingRow = (
  file: ConfigurationFile,
  check: string,
  clause: string,
  result: Pick<ReportFinding, "outcome"> & { readonly reason: string },
): ReportFinding => ({ check, clause, suite: file.name, level: "gap", since: firstRequirementSet, ...result });

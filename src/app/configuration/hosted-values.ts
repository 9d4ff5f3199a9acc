import { getPath, isObject } from "../../base/json.ts";
import { endpointFields, envelopeContent } from "../../evidence/envelope.ts";
import { bodyJson, type Exchange } from "../../evidence/exchange.ts";
import type { ReportFinding } from "../../report/model/report.ts";
import { defaultQuery } from "../../run/discovery/discover-target.ts";
import { mainKey } from "../../run/plan/needs.ts";
import type { Client } from "../../run/send/client.ts";
import { isSegment } from "../../base/path-segment.ts";
import { inShortSession } from "../../run/send/short-session.ts";
import { SkipError } from "../../run/skip-reason.ts";
import type { Target } from "../../target/target.ts";
import { redactorWithAlteredKeys } from "../judge/redactor.ts";
import { secretsOf } from "../judge/secrets.ts";
import type { ConfigurationFile, HostedObservations } from "./judge-configurations.ts";

const comparedFields = [
  { name: "agent_name", clause: "CFG-1", listed: ["agent_name", "name"] },
  { name: "framework", clause: "CFG-1", listed: ["framework"] },
  { name: "version", clause: "CFG-1", listed: ["version", "agent_version"] },
  { name: "description", clause: "CFG-3", listed: ["description"] },
] as const;

const maxWaitMs = 65_000;
const maxListedAgents = 50;

/** For each value in an agent configuration file, reports the target's value. */
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
    const shown = [
      ...(name === "version"
        ? [
            ["health", formatResponseValue(health, "version")],
            ["invoke", formatResponseValue(invoked, "metadata", "agent_version")],
          ]
        : []),
      ["the list", formatValue(listed.map((each) => getPath(item, each)).find((each) => each !== undefined))],
    ];
    const said = shown.map(([where, what]) => `${where}: ${what}`).join("; ");
    return findingRow(file, `${clause}/hosted ${name}`, clause, {
      outcome: "observed",
      reason: `\`${name}\` of ${id}: the file: ${formatValue(getPath(file.source.value, name))}; ${said}`,
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
): ReportFinding => ({ check, clause, suite: file.name, level: "gap", since: "1.2", ...result });

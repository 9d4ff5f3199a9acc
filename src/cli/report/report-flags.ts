import type { RequestedFormats } from "../../app/report-folder/write-formats.ts";
import { parseAs } from "../../base/parsing.ts";
import { parseJsonFile, readTextFile } from "../../base/read-file.ts";
import { line, UsageError } from "../../base/line.ts";
import {
  type RequiredInput,
  type FormatName,
  formatNames,
  formats,
  unavailableReason,
} from "../../report/formats/registry.ts";
import type { ReportDocument } from "../../report/model/report.ts";
import { type Baseline, baselineSchema, type FailurePolicy, defaultPolicy } from "../../report/model/failure-policy.ts";
import { publishedTierNames } from "../../spec/tiers.ts";
import { type Subject, subjectAlgorithms, type StatementSigning } from "../../report/statement/attestation.ts";
import { parseSigningKey, type SigningKey } from "../../report/statement/signatures.ts";
import {
  type FlagsOf,
  flagForSetting,
  type OptionTable,
  readCount,
  readRequirements,
  repeatable,
  requirementsOption,
} from "../options.ts";
import { prepareFiles, prepareReportFolder } from "../output-files.ts";

export const failureOptions = {
  "--strict": "a warning fails the run as well",
  "--baseline <file>": "known failures, each with a reason; one that no longer fails is an error",
} as const;

export const reportOptions = {
  ...failureOptions,
  "--complete": "a must clause that was not exercised fails the run as well",
  "--out <dir>": "folder for report.json and evidence.json (default: a new one under reports/)",
  "--json <file>": "report.json to this file as well; - prints it, and nothing else, on standard output",
  "-q, --quiet": "only what is broken, and the verdict",
} as const;

export const signingKeyVariable = "CONFORMANCE_SIGNING_KEY";

const signingOptions = {
  "--sign-key <file>": `private key (PEM) that signs the statement; or its text in ${signingKeyVariable}`,
  "--subject <name=digest>": {
    ...repeatable("what was deployed, for a signed statement: app=sha256:…, or gitCommit:…"),
    default: undefined,
  },
  "--valid-days <n>": "days for which a signed statement counts (default: 90)",
} as const;

/** Flags for report formats and signed statements. A format's flag takes a file name, or `-` for standard output. */
export type FormatFlags = { readonly [name in FormatName]?: string | undefined } & Partial<
  FlagsOf<typeof signingOptions>
>;

type FailureFlags = FlagsOf<typeof failureOptions>;
export type ReportFlags = FlagsOf<typeof reportOptions> & FormatFlags;

export function formatOptions(sources: readonly RequiredInput[] = ["report", "exchanges", "files"]): OptionTable {
  const offered = formatNames.filter((name) => name !== "json" && sources.includes(formats[name].source));
  return {
    ...Object.fromEntries(offered.map((name) => [`${flagForSetting(name)} <file>`, formats[name].says])),
    ...(sources.includes("files") && signingOptions),
  };
}

export const prepareReport = (flags: ReportFlags, name: string, prefix = "") => ({
  rules: readFailurePolicy(flags),
  formats: prepareFormats(flags),
  folder: prepareReportFolder(flags.out, name, prefix),
});

export function prepareFormats(flags: FormatFlags): RequestedFormats {
  const signing = readSigning(flags, process.env);
  return { ...prepareFiles(formatNames, flags), ...(signing && { signing }) };
}

export function assertFormatsAvailable(document: ReportDocument, flags: FormatFlags): void {
  for (const name of formatNames) {
    const problem = flags[name] === undefined ? null : unavailableReason(name, document);
    if (problem !== null) throw new UsageError(line`${flagForSetting(name)} cannot be written: ${problem}.`);
  }
}

export const readFailurePolicy = ({ strict = false, baseline }: FailureFlags): FailurePolicy => ({
  strict,
  baseline: baseline === undefined ? defaultPolicy.baseline : readBaseline(baseline),
});

function readBaseline(path: string): Baseline {
  const parsed = parseAs(parseJsonFile(readTextFile(path, "The baseline"), path), baselineSchema);
  if (parsed.kind === "value") return parsed.value.known;
  throw new UsageError(line`${path}: ${parsed.problem}. A baseline is {"known": [{"check": "SSE-5", "reason": "…"}]}.`);
}

/** Reads how to sign a statement; `null` for no signature. Removes the key from the environment of child processes. */
function readSigning(
  { statement, statementHtml, signKey, subject = [], validDays }: FormatFlags,
  environment: NodeJS.ProcessEnv,
): StatementSigning | null {
  const pem = environment[signingKeyVariable] ?? "";
  delete environment[signingKeyVariable];
  const flags = { "--sign-key": signKey, "--subject": subject[0], "--valid-days": validDays };
  const given = Object.entries(flags).find(([, value]) => value !== undefined)?.[0];
  if (statement === undefined && statementHtml === undefined) {
    if (given === undefined) return null;
    throw new UsageError(line`${given} is for a signed statement: give --statement FILE too.`);
  }
  const key = signKey === undefined ? keyInEnvironment(pem) : readSigningKey(signKey);
  if (key === null) {
    if (given === undefined) return null;
    throw new UsageError(line`${given} is for a signed statement: give --sign-key FILE, or set ${signingKeyVariable}.`);
  }
  return {
    key,
    subjects: subject.map(readSubject),
    ...(validDays !== undefined && { validDays: readDays(validDays) }),
  };
}

const maxValidDays = 3650;

function readDays(text: string): number {
  const days = readCount(text, "--valid-days");
  if (days <= maxValidDays) return days;
  throw new UsageError(line`--valid-days is ${days}; give at most ${maxValidDays}.`);
}

const keyInEnvironment = (pem: string): SigningKey | null =>
  pem.trim() === "" ? null : usableKey(pem, signingKeyVariable);

function readSigningKey(file: string): SigningKey {
  if (file.includes("-----BEGIN"))
    throw new UsageError(line`--sign-key has a key in place of a file. Give a file, or set ${signingKeyVariable}.`);
  return usableKey(readTextFile(file, "The signing key"), file);
}

function usableKey(pem: string, name: string): SigningKey {
  const key = parseSigningKey(pem);
  if (key.kind === "value") return key.value;
  throw new UsageError(line`The signing key in ${name} ${key.problem}.`);
}

function readSubject(text: string): Subject {
  const [, name = "", algorithm = "", digest = ""] = /^(.+)=([A-Za-z0-9]+):([0-9a-f]+)$/.exec(text) ?? [];
  const length = Object.entries(subjectAlgorithms).find(([known]) => known === algorithm)?.[1];
  if (digest.length === length) return { name, digest: { [algorithm]: digest } };
  const known = Object.entries(subjectAlgorithms).map(([other, digits]) => `${other} (${digits} digits)`);
  throw new UsageError(
    line`--subject must be NAME=ALGORITHM:DIGEST in lower-case hex, such as app=sha256:…; algorithms: ${known.join(", ")}.`,
  );
}

export const trafficOptions = {
  "--tier <tier>": repeatable(`tier of all keys: ${publishedTierNames.join(", ")}; or of one, such as key-1=free`),
  "--no-bodies": "write no bodies into evidence.json",
  ...requirementsOption,
  ...reportOptions,
  "--complete": "a must clause that was not exercised fails as well",
} as const;

export type TrafficFlags = FlagsOf<typeof trafficOptions> & ReportFlags;

export const readTrafficOptions = (flags: TrafficFlags) => ({
  tiers: readTiers(flags.tier),
  keepsBodies: flags.bodies,
  requirements: readRequirements(flags),
});

const readTiers = (given: readonly string[]): ReadonlyMap<string, string> =>
  new Map(
    given.map((text) => {
      const [, name = "*", tier = ""] = /^(?:(.+)=)?(.*)$/.exec(text) ?? [];
      if (!publishedTierNames.some((each) => each === tier))
        throw new UsageError(
          line`--tier is ${JSON.stringify(text)}; give ${publishedTierNames.join(", ")}, or KEY=TIER.`,
        );
      return [name, tier];
    }),
  );

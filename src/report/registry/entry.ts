import { profileNames } from "../../spec/profiles.ts";
import type { PageSignature } from "../statement/attestation.ts";
import type { Statement, StatementProfile } from "../statement/statement-schema.ts";

/** A verified statement in a registry. */
export interface RegistryEntry {
  readonly folder: string;
  /** Name of the statement's file without `.json`, which distinguishes the statements of a folder. */
  readonly version: string;
  /** Name of the vendor in its key list; without a list, the name of its folder. */
  readonly vendor: string;
  readonly statement: Statement;
  /** `null`: nobody signed the statement. */
  readonly signature: PageSignature | null;
  /** Whether a key of the vendor's list signed the statement. */
  readonly isSignedByVendor: boolean;
  /** Time from which the statement is no longer valid, ISO 8601. */
  readonly expires: string;
  /** Version of a newer and nonconformant statement about the same deployment; `null` if there is none. */
  readonly supersededBy: string | null;
  /** Version of the newest statement of this kind on this deployment; `null` if this one is the newest. */
  readonly newer: string | null;
  readonly hasReport: boolean;
  readonly sha256: string;
}

/** The content of a registry's site. */
export interface Registry {
  readonly entries: readonly RegistryEntry[];
  /** When the site was made. It decides which statements have expired. */
  readonly now: Date;
  /** Address of the site, with a slash at the end; `null` if it is not known. */
  readonly url: string | null;
}

/** Paths of an entry's files below the folder of the site. */
export const pathsOf = ({ folder, version }: Pick<RegistryEntry, "folder" | "version">) => ({
  statement: `${folder}/${version}.json`,
  page: `${folder}/${version}.html`,
  report: `${folder}/${version}/report.html`,
});

export const isExpired = ({ expires }: RegistryEntry, now: Date): boolean => now.getTime() >= Date.parse(expires);

/** Whether a reader may rely on an entry: it has not expired, and no newer statement replaces it. */
export const isCurrent = (entry: RegistryEntry, now: Date): boolean => reasonsNotCurrent(entry, now).length === 0;

/** Returns the reasons why readers should no longer rely on an entry, each as part of a sentence. */
export function reasonsNotCurrent(entry: RegistryEntry, now: Date): string[] {
  const { supersededBy, newer, expires } = entry;
  return [
    ...(isExpired(entry, now) ? [`expired on ${expires.slice(0, 10)}`] : []),
    ...(supersededBy === null ? [] : [`superseded by ${supersededBy}, which is nonconformant`]),
    ...(newer === null || newer === supersededBy ? [] : [`${newer} is newer`]),
  ];
}

/** Returns the verdict of an entry, and the profiles that its vendor does not offer. */
export function verdictText({ statement: { verdict, profiles = [] } }: RegistryEntry): string {
  const missing = profiles.filter((each) => each.verdict === "not offered").map(({ profile }) => profile);
  return missing.length === 0 ? verdict : `${verdict}: not offered: ${missing.join(", ")}`;
}

/** Returns the verdicts of an entry in the order of the profiles; `null` where the statement has none. */
export const profilesOf = ({ statement: { profiles = [] } }: RegistryEntry): (StatementProfile | null)[] =>
  profileNames.map((name) => profiles.find(({ profile }) => profile === name) ?? null);

/** Returns the tiers of the target's keys, with the number of failed checks that name the tier. */
export const tiersOf = ({ statement: { target, exceptions } }: RegistryEntry): { tier: string; failed: number }[] =>
  target.tiers.map((tier) => ({
    tier,
    failed: exceptions.filter(({ outcome, instances = [] }) => outcome === "fail" && instances.includes(tier)).length,
  }));

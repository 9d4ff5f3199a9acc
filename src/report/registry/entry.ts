import { profileNames } from "../../spec/profiles.ts";
import type { PageSignature } from "../statement/attestation.ts";
import type { Statement, StatementProfile } from "../statement/statement-schema.ts";
import { dayOf } from "../../base/duration.ts";

export interface RegistryEntry {
  readonly folder: string;
  /** Version of the statement: its file name without `.json`, unique in the folder. */
  readonly version: string;
  /** Name of the vendor, from its key list; without a key list, the name of the vendor's folder. */
  readonly vendor: string;
  readonly statement: Statement;
  /** Signature of the statement; `null` if nobody signed it. */
  readonly signature: PageSignature | null;
  /** Whether the signing key is in the vendor's key list. */
  readonly isSignedByVendor: boolean;
  readonly expires: string;
  /**
   * Version of a newer, nonconformant statement about the same deployment; `null` if there is none. Ignores statements
   * by a later requirement set, because that set may have more clauses.
   */
  readonly supersededBy: string | null;
  /** Version of the newest statement with the same deployment and kind; `null` if this statement is the newest. */
  readonly newer: string | null;
  readonly hasReport: boolean;
  readonly sha256: string;
}

export interface Registry {
  readonly entries: readonly RegistryEntry[];
  readonly now: Date;
  /** Address of the registry's site, with a slash at the end; `null` if the address is not known. */
  readonly url: string | null;
}

export const pathsOf = ({ folder, version }: Pick<RegistryEntry, "folder" | "version">) => ({
  statement: `${folder}/${version}.json`,
  page: `${folder}/${version}.html`,
  report: `${folder}/${version}/report.html`,
});

export const isExpired = ({ expires }: RegistryEntry, now: Date): boolean => now.getTime() >= Date.parse(expires);

/** Whether a reader may rely on an entry: its statement has not expired, and no newer statement replaces it. */
export const isCurrent = (entry: RegistryEntry, now: Date): boolean => reasonsNotCurrent(entry, now).length === 0;

export function reasonsNotCurrent(entry: RegistryEntry, now: Date): string[] {
  const { supersededBy, newer, expires } = entry;
  return [
    ...(isExpired(entry, now) ? [`expired on ${dayOf(expires)}`] : []),
    ...(supersededBy === null ? [] : [`superseded by ${supersededBy}, which is nonconformant`]),
    ...(newer === null || newer === supersededBy ? [] : [`${newer} is newer`]),
  ];
}

export function verdictText({ statement: { verdict, profiles = [] } }: RegistryEntry): string {
  const missing = profiles.filter((each) => each.verdict === "not offered").map(({ profile }) => profile);
  return missing.length === 0 ? verdict : `${verdict}: not offered: ${missing.join(", ")}`;
}

export const profilesOf = ({ statement: { profiles = [] } }: RegistryEntry): (StatementProfile | null)[] =>
  profileNames.map((name) => profiles.find(({ profile }) => profile === name) ?? null);

export const tiersOf = ({ statement: { target, exceptions } }: RegistryEntry): { tier: string; failed: number }[] =>
  target.tiers.map((tier) => ({
    tier,
    failed: exceptions.filter(({ outcome, instances = [] }) => outcome === "fail" && instances.includes(tier)).length,
  }));

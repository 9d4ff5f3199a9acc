import { verdictMarks } from "../model/verdict.ts";
import { sumOf, wholePercent } from "../../base/numbers.ts";
import { type Profile, profileNames } from "../../spec/profiles.ts";
import { profileResultsOf } from "../model/profiles.ts";
import type { ProfileResult } from "../model/report.ts";
import { mapJudged, type Vendor, type VendorWithReport } from "./vendor.ts";

type ProfileCell = Pick<ProfileResult, "verdict" | "musts" | "exercised" | "broken">;

export interface ProfileRow {
  readonly profile: Profile;
  readonly cells: readonly (ProfileCell | null)[];
}

export function profileRows(vendors: readonly Vendor[]): ProfileRow[] {
  const columns = mapJudged(vendors, ({ document }) => profileResultsOf(document.report));
  return profileNames.map((profile) => ({
    profile,
    cells: columns.map((column) => {
      const result = column?.find((each) => each.profile === profile);
      if (result === undefined) return null;
      const { verdict, musts, exercised, broken } = result;
      return { verdict, musts, exercised, broken };
    }),
  }));
}

export const rankingRule =
  "The columns are in order of conformant profiles less nonconformant ones; then in order of must clauses exercised; then as in the file.";

/** Sorts vendors as {@link rankingRule} says. Vendors that were not judged come last. */
export function rankVendors(vendors: readonly Vendor[]): Vendor[] {
  const judged = vendors.filter((vendor) => vendor.kind === "judged").map((vendor) => ({ vendor, ...scoreOf(vendor) }));
  const ranked = judged.toSorted((one, other) => other.profiles - one.profiles || other.exercised - one.exercised);
  return [...ranked.map(({ vendor }) => vendor), ...vendors.filter(({ kind }) => kind === "unjudged")];
}

function scoreOf({ document }: VendorWithReport): { readonly profiles: number; readonly exercised: number } {
  const results = profileResultsOf(document.report);
  const count = (wanted: ProfileResult["verdict"]): number =>
    results.filter(({ verdict }) => verdict === wanted).length;
  return {
    profiles: count("conformant") - count("nonconformant"),
    exercised: sumOf(results.map(({ exercised }) => exercised)),
  };
}

export function formatProfileCell(cell: ProfileCell | null): string {
  if (cell === null) return "not judged";
  const { verdict, musts, exercised } = cell;
  if (verdict === "not offered" || verdict === "not selected") return `– ${verdict}`;
  if (musts === 0) return "– nothing to exercise";
  if (verdict === "partial" && exercised === 0) return `– could not be tried: 0 of ${musts}`;
  return `${verdictMarks[verdict]} ${verdict}: ${wholePercent(exercised, musts)} % exercised, ${exercised} of ${musts}`;
}

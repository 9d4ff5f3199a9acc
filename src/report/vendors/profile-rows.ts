import { verdictMarks } from "../model/verdict.ts";
import { sumOf, wholePercent } from "../../base/numbers.ts";
import { type Profile, profileNames } from "../../spec/profiles.ts";
import { profileResultsOf } from "../model/profiles.ts";
import type { ProfileResult } from "../model/report.ts";
import { mapJudged, type Vendor } from "./vendor.ts";

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
  const scores = new Map(vendors.map((vendor) => [vendor, scoreOf(vendor)]));
  const scoreIn = (vendor: Vendor): VendorScore => scores.get(vendor) ?? lowestScore;
  return vendors.toSorted((one, other) => compareScores(scoreIn(one), scoreIn(other)));
}

interface VendorScore {
  /** Number of conformant profiles minus number of nonconformant profiles. */
  readonly profiles: number;
  readonly exercised: number;
}

const lowestScore: VendorScore = { profiles: Number.NEGATIVE_INFINITY, exercised: 0 };

function scoreOf(vendor: Vendor): VendorScore {
  if (vendor.kind === "unjudged") return lowestScore;
  const results = profileResultsOf(vendor.document.report);
  const count = (wanted: ProfileResult["verdict"]): number =>
    results.filter(({ verdict }) => verdict === wanted).length;
  return {
    profiles: count("conformant") - count("nonconformant"),
    exercised: sumOf(results.map(({ exercised }) => exercised)),
  };
}

function compareScores(one: VendorScore, other: VendorScore): number {
  if (one.profiles !== other.profiles) return one.profiles < other.profiles ? 1 : -1;
  return other.exercised - one.exercised;
}

export function formatProfileCell(cell: ProfileCell | null): string {
  if (cell === null) return "not judged";
  const { verdict, musts, exercised } = cell;
  if (verdict === "not offered" || verdict === "not selected") return `– ${verdict}`;
  if (musts === 0) return "– nothing to exercise";
  if (verdict === "partial" && exercised === 0) return `– could not be tried: 0 of ${musts}`;
  return `${verdictMarks[verdict]} ${verdict}: ${wholePercent(exercised, musts)} % exercised, ${exercised} of ${musts}`;
}

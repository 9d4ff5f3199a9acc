import { authenticationFaults } from "./faults/authentication.ts";
import { concurrencyFaults, tokenFaults } from "./faults/concurrency.ts";
import { deliveryFaults } from "./faults/deliveries.ts";
import { deliveryPolicyFaults } from "./faults/delivery-policy.ts";
import { headerFaults } from "./faults/headers.ts";
import { healthFaults } from "./faults/health.ts";
import { invokeFaults } from "./faults/invoke.ts";
import { keyFaults } from "./faults/keys.ts";
import { limitFaults } from "./faults/limits.ts";
import { otherEndpointFaults } from "./faults/other-endpoints.ts";
import { rareCaseFaults } from "./faults/rare-cases.ts";
import { rareRequestFaults } from "./faults/rare-requests.ts";
import { unusualBodyFaults } from "./faults/unusual-bodies.ts";
import { relationFaults } from "./faults/relations.ts";
import { requestFaults } from "./faults/requests-and-errors.ts";
import { streamFaults } from "./faults/stream.ts";
import { bodyVariants } from "./variants/bodies.ts";
import { deliveryVariants } from "./variants/deliveries.ts";
import { errorVariants } from "./variants/errors.ts";
import { limitVariants } from "./variants/limits.ts";
import { otherEndpointVariants } from "./variants/other-endpoints.ts";
import { streamVariants } from "./variants/stream.ts";
import type { Patch } from "./patch.ts";
import { line, UsageError } from "../base/line.ts";

export const allFaults: readonly Patch[] = [
  ...requestFaults,
  ...rareRequestFaults,
  ...unusualBodyFaults,
  ...invokeFaults,
  ...streamFaults,
  ...healthFaults,
  ...otherEndpointFaults,
  ...authenticationFaults,
  ...keyFaults,
  ...deliveryFaults,
  ...deliveryPolicyFaults,
  ...headerFaults,
  ...rareCaseFaults,
  ...limitFaults,
  ...tokenFaults,
  ...relationFaults,
  ...concurrencyFaults,
];

/** The faults that a run of the suites must detect. Only a load run detects the other faults. */
export const suiteFaults: readonly Patch[] = allFaults.filter(({ detectedBy }) => detectedBy === "suites");

export const allVariants: readonly Patch[] = [
  ...bodyVariants,
  ...streamVariants,
  ...errorVariants,
  ...otherEndpointVariants,
  ...deliveryVariants,
  ...limitVariants,
];

const byName: ReadonlyMap<string, Patch> = new Map(
  [...allFaults, ...allVariants].map((patch) => [`${patch.kind} ${patch.name}`, patch]),
);

export const findPatch = (kind: Patch["kind"], name: string): Patch | undefined => byName.get(`${kind} ${name}`);

/** Returns the patch of this kind and name. Throws an `Error` if there is none, which is a defect of the harness. */
export function patchNamed({ kind, name }: Pick<Patch, "kind" | "name">): Patch {
  const patch = findPatch(kind, name);
  if (patch === undefined) throw new Error(`There is no ${kind} ${name}.`);
  return patch;
}

export function patchesByName(faults: readonly string[], variants: readonly string[]): Patch[] {
  return [...faults.map((name) => findOrThrow(name, "fault")), ...variants.map((name) => findOrThrow(name, "variant"))];
}

function findOrThrow(name: string, kind: Patch["kind"]): Patch {
  const patch = findPatch(kind, name);
  if (patch !== undefined) return patch;
  const words = name
    .toLowerCase()
    .split("-")
    .filter((word) => word.length > 2);
  const similar = (kind === "fault" ? allFaults : allVariants)
    .map((each) => each.name)
    .filter((each) => words.some((word) => each.includes(word)));
  const advice = similar.length === 0 ? "" : ` Near: ${similar.slice(0, 6).join(", ")}.`;
  throw new UsageError(
    line`There is no ${kind} ${JSON.stringify(name)}.${advice} \`conformance serve --help\` lists them.`,
  );
}

import { allVariants } from "../../reference/catalogue.ts";
import type { Patch } from "../../reference/patch.ts";
import type { Mutant } from "./mutant.ts";

/** A server whose clean run mutants are made of. */
export interface Source {
  readonly name: string;
  /** Variants of the reference server that it has. */
  readonly variants: readonly string[];
  /** Whether a mutant shows something that the plain reference server does not. */
  readonly isNew: (mutant: Mutant) => boolean;
}

/** Mutants of fields, bodies and the rate-limit header that those variants change. */
const ofErrors = ({ place, subject }: Mutant): boolean =>
  / (4\d\d|500)/.test(place) && /^(error|status|the body|X-RateLimit-Limit)/.test(subject);

const ofEnvelopes = ({ place, subject }: Mutant): boolean =>
  /^(list|usage|keyUsage|batch|other paths) 20\d/.test(place) && !/^(X-|Content-Type|headers)/.test(subject);

/** The largest last. */
export const sources: readonly Source[] = [
  {
    name: "form B",
    variants: ["form-b", "headers-of-minute", "code-rate-limited", "index-from-1"],
    isNew: ofErrors,
  },
  {
    name: "envelopes",
    variants: [
      "list-envelope",
      "usage-envelope-result",
      "key-usage-envelope",
      "metrics-in-envelope",
      "handle-envelope",
    ],
    isNew: ofEnvelopes,
  },
  { name: "reference", variants: [], isNew: () => true },
];

export const variantsOf = ({ variants }: Source): Patch[] =>
  variants.map((name) => {
    const found = allVariants.find((each) => each.name === name);
    if (found === undefined) throw new Error(`there is no variant ${name}`);
    return found;
  });

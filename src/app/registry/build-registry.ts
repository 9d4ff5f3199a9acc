import type { Registry } from "../../report/registry/entry.ts";
import { findStatements, type RegistryProblem } from "./find-statements.ts";
import { siteFiles } from "./site-files.ts";
import { verifyStatements, type VerifyingOptions } from "./verify-statements.ts";
import { writeSite } from "./write-site.ts";

export interface BuildOptions extends VerifyingOptions {
  /** The folder with a folder for each vendor. */
  readonly registry: string;
  /** The folder of the site. */
  readonly site: string;
  /** Address of the site, with a slash at the end; `null` if it is not known. */
  readonly url: string | null;
}

/** The result of making a site. It is written only if every statement is verified. */
export type BuiltRegistry =
  | { readonly kind: "built"; readonly registry: Registry }
  | { readonly kind: "broken"; readonly problems: readonly RegistryProblem[] };

/**
 * Verifies every statement in the folder of a registry, and makes a static site of them.
 *
 * @throws {UsageError} if the folder cannot be read
 */
export async function buildRegistry(options: BuildOptions): Promise<BuiltRegistry> {
  const found = findStatements(options.registry);
  const verified = await Promise.all(found.vendors.map((vendor) => verifyStatements(vendor, options)));
  const problems = [...found.problems, ...verified.flatMap((each) => each.problems)];
  if (problems.length > 0) return { kind: "broken", problems };
  const statements = verified.flatMap((each) => each.statements);
  const registry = { entries: statements.map(({ entry }) => entry), now: options.now, url: options.url };
  writeSite(options.site, siteFiles(registry, statements, found.vendors));
  return { kind: "built", registry };
}

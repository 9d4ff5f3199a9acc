import { endpointGaps, operationGaps } from "./endpoints.ts";
import { errorAndLimitGaps } from "./errors-and-limits.ts";
import type { Gap } from "./gap.ts";
import { webhookGaps } from "./webhooks.ts";

/** All gaps. */
export const gaps: readonly Gap[] = [...endpointGaps, ...errorAndLimitGaps, ...webhookGaps, ...operationGaps];

/** Writes `docs/gaps.md`. */
export function gapsDocument(): string {
  const rows = gaps.map(({ clauses, open, chosen, otherwise }) => {
    const names = otherwise.map((name) => `\`${name}\``).join(", ");
    return `| ${clauses.join(", ")} | ${open} | ${chosen} | ${names} |`;
  });
  return [
    "# Gaps",
    "",
    "The interface document leaves some cases open. This table lists them, with the choice of the reference server and the",
    "variants (`conformance serve --variant NAME`) with another choice. The suites are tested against all of them. The",
    "clauses are those of [clauses.md](clauses.md). `npm run docs` writes this page from `src/reference/gaps/`.",
    "",
    "| Clause | Left open | The reference server | Variants |",
    "|---|---|---|---|",
    ...rows,
    "",
  ].join("\n");
}

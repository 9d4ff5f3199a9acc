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
    "Where the interface document is silent, the reference server has to do something. This table says what it does, and",
    "which variant (`conformance serve --variant NAME`) does otherwise, so that the suites are proven against both. The",
    "clauses are those of [clauses.md](clauses.md). The table is made from `src/reference/gaps/`; `npm run docs` writes it.",
    "",
    "| Clause | Left open | The reference server | Variants |",
    "|---|---|---|---|",
    ...rows,
    "",
  ].join("\n");
}

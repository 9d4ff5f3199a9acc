import { parseRoles } from "../../target/target-file.ts";
import type { ParsedTargetFile } from "../../target/target-file-schema.ts";
import { describeRoles, agentRoles, type AgentRole } from "../../target/target.ts";
import { sanitize, sanitizeLine } from "../../base/sanitize.ts";
import { formatCount, joinFirst, formatLabelled } from "../../base/text.ts";
import { type Paint, createPaint } from "../../base/paint.ts";
import type { SkipGroup } from "../../app/plan/skipped-checks.ts";
import type { TerminalStyle } from "../terminal.ts";
import type { DetectedControl } from "../../app/init/detect-control.ts";
import type { DiscoveredTarget } from "../../app/init/discover.ts";

export function foundText(
  baseUrl: string,
  found: DiscoveredTarget,
  requests: number,
  { colour, width }: TerminalStyle,
): string {
  const paint = createPaint(colour);
  const row = rowsFor(width, paint);
  const { agents, total, tier, shapes } = found;
  const listed = total ?? agents.length;
  return linesBlock([
    `${paint.bold("Found at")} ${sanitizeLine(baseUrl)} (${formatCount(requests, "GET request")}, nothing else was sent)`,
    ...row(
      "agents",
      agents.length === 0 ? "none listed" : `${formatCount(listed, "agent")} listed: ${healthText(found)}`,
    ),
    ...row("list", shapes.list),
    ...row("usage", shapes.usage),
    ...row("errors", shapes.errors),
    ...row("tier", tier === null ? "not in the rate-limit headers" : `${tier}, from the rate-limit headers`),
  ]);
}

export function controlText(detected: DetectedControl, { colour, width }: TerminalStyle): string {
  const text = detected.kind === "found" ? detected.calls.join(", ") : `none: ${detected.why}`;
  return linesBlock(rowsFor(width, createPaint(colour))("test control", text));
}

function healthText({ agents }: DiscoveredTarget): string {
  const byHealth = Map.groupBy(agents, ({ health }) => health ?? "health not known");
  return [...byHealth]
    .map(([health, members]) => {
      const ids = members.map(({ id }) => sanitizeLine(id, 40));
      return `${members.length} ${health} (${joinFirst(ids, 4)})`;
    })
    .join(", ");
}

export function proposalText(
  path: string,
  file: ParsedTargetFile,
  text: string,
  { colour, width }: TerminalStyle,
): string {
  const paint = createPaint(colour);
  const row = rowsFor(width, paint);
  const [key] = Object.values(file.keys);
  const agents = Object.entries(describeRoles(parseRoles(file.agents ?? {}))) as [AgentRole, string][];
  return linesBlock([
    `${paint.bold("Proposed")} ${path}`,
    ...sanitize(text).trimEnd().split("\n"),
    "",
    paint.bold("What each part means"),
    ...row("$schema", "lets an editor complete and check the file"),
    ...row("name", "how reports call the target"),
    ...row("baseUrl", "its address; with or without /v1"),
    ...row("keys", `each takes its key from the environment (${key?.key ?? ""}): no key stands in the file`),
    ...(key?.tier === undefined
      ? []
      : row("  tier", `${key.tier}: the limits that the key has, and that the run keeps to and then tests`)),
    ...(file.network === undefined ? [] : row("network", "how it is reached: paths are relative to this file")),
    ...(agents.length === 0 ? [] : row("agents", "the role of each agent in a run:")),
    ...(file.clock === undefined
      ? []
      : row("clock", "moves the target's test clock; its token comes from the environment")),
    ...(file.control === undefined
      ? []
      : row("control", "issues a fresh key of each tier that `keys` does not list, for each run")),
    ...(file.triggers === undefined ? [] : row("triggers", "calls that cause the events of deployments")),
    ...(file.paths === undefined ? [] : row("paths", "paths that the document does not define")),
    ...agents.flatMap(([role, id]) => row(`  ${role}`, `${sanitizeLine(id, 60)} ${agentRoles[role]}`)),
  ]);
}

export function absentText(groups: readonly SkipGroup[], { colour, width }: TerminalStyle): string {
  const paint = createPaint(colour);
  if (groups.length === 0) return linesBlock(["Nothing is missing: every check can run."]);
  return linesBlock([
    paint.bold("What it does not say yet, and the checks that each line would enable"),
    ...groups.flatMap(({ enabledBy, checks }) =>
      formatLabelled(
        `${String(checks.length).padStart(5)}  `,
        `${enabledBy} (${joinFirst(checks, 3)})`,
        width,
        paint.bold,
      ),
    ),
  ]);
}

const labelWidth = 14;

const rowsFor =
  (width: number, paint: Paint) =>
  (label: string, text: string): string[] =>
    formatLabelled(`  ${`${label} `.padEnd(labelWidth)}`, sanitizeLine(text, 600), width, paint.dim);

const linesBlock = (lines: readonly string[]): string => `${lines.join("\n")}\n\n`;

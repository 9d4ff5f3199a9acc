import { createInterface } from "node:readline/promises";
import { type Readable, Writable } from "node:stream";
import { sanitize, sanitizeLine } from "../../base/sanitize.ts";
import { line, UsageError } from "../../base/line.ts";
import { parseRoles } from "../../target/target-file.ts";
import type { ParsedTargetFile } from "../../target/target-file-schema.ts";
import { type AgentRole, agentRoles, describeRoles } from "../../target/target.ts";
import { createPaint, formatCount, formatLabelled, joinFirst, type Paint } from "../../base/text.ts";
import type { SkipGroup } from "../../app/plan/skipped-checks.ts";
import type { TerminalSettings } from "../../report/terminal/section-lines.ts";
import type { DetectedControl, DiscoveredTarget } from "../../app/init/discover.ts";

/** Thrown if Ctrl-C or a signal ends the dialog. If the input ends, a `UsageError` is thrown instead. */
export class Interrupted extends Error {
  override readonly name = "Interrupted";
}

interface Question<T> {
  readonly text: string;
  readonly fallback: string | null;
  /**
   * Parses the user's answer.
   *
   * @throws {UsageError} if the answer is invalid; then the question is asked again
   */
  readonly read: (answer: string) => T;
  readonly isHidden?: boolean;
}

export interface Prompter {
  readonly ask: <T>(question: Question<T>) => Promise<T>;
  readonly close: () => void;
}

interface PrompterOptions {
  readonly input: Readable;
  readonly output: NodeJS.WritableStream & { readonly columns?: number };
  readonly isTerminal: boolean;
  readonly signal: AbortSignal;
  /** Called on Ctrl-C, because Node sends no signal while a question is open. */
  readonly onInterrupt: () => void;
}

export function openPrompter({ input, output, isTerminal, signal, onInterrupt }: PrompterOptions): Prompter {
  let isHidden = false;
  const echo = new Writable({
    write: (chunk: Buffer, _, done) => {
      if (!isHidden) output.write(chunk);
      done();
    },
  });
  const lines = createInterface({
    input,
    output: Object.assign(echo, { columns: output.columns ?? 80 }),
    terminal: isTerminal,
    historySize: 0,
  });
  const over = Promise.withResolvers<never>();
  // The input can end while no question waits for an answer. Without this handler, the rejection would be unhandled.
  over.promise.catch(() => {});
  lines.on("SIGINT", onInterrupt);
  lines.on("close", () =>
    over.reject(new UsageError(line`The input ended before all was answered; nothing was written.`)),
  );
  const stop = (): void => over.reject(new Interrupted());
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });

  const readLine = async (question: Question<unknown>): Promise<string> => {
    const hint =
      question.fallback === null || question.fallback === "" ? "" : ` [${sanitizeLine(question.fallback, 120)}]`;
    // Prints the question first, because `isHidden` suppresses all later output.
    const answer = lines.question(`${question.text}${hint}: `);
    isHidden = question.isHidden === true;
    try {
      return (await Promise.race([answer, over.promise])).trim();
    } finally {
      if (isHidden) output.write("\n");
      isHidden = false;
    }
  };

  return {
    ask: async ({ ...question }) => {
      for (;;) {
        const answer = await readLine(question);
        const meant = answer === "" ? question.fallback : answer;
        try {
          if (meant === null) throw new UsageError(line`An answer is needed.`);
          return question.read(meant);
        } catch (error) {
          if (!(error instanceof UsageError)) throw error;
          output.write(`  ${error.message}\n`);
        }
      }
    },
    close: () => {
      signal.removeEventListener("abort", stop);
      lines.close();
    },
  };
}

export function discoverySummary(
  baseUrl: string,
  found: DiscoveredTarget,
  requests: number,
  { colour, width }: TerminalSettings,
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

export function controlText(detected: DetectedControl, { colour, width }: TerminalSettings): string {
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
  { colour, width }: TerminalSettings,
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

export function formatMissingParts(groups: readonly SkipGroup[], { colour, width }: TerminalSettings): string {
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

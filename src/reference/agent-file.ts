import { z } from "zod";
import { type Notation, parseSource, type Place, type Source } from "../base/source/source.ts";
import { deploymentDefaults } from "./agents.ts";
import { isReservedHeader } from "./behaviour/deliveries.ts";
import { eventSelectors } from "./behaviour/webhooks.ts";

/**
 * Creates the schema of a string for which `holds` returns `true`. The error message ends with `allowed`, e.g. "it must
 * be an http or https URL".
 */
const checkedText = (allowed: string, holds: (value: string) => boolean) => z.string(allowed).refine(holds, allowed);

const anyText = z.string("a string");
const filledText = checkedText("a string that is not empty", (value) => value !== "");

const zonelessTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?$/;
/**
 * Whether a text is a valid time without a zone, such as `2026-01-05T08:00:00`. `Date.parse` alone would accept 30
 * February.
 */
function isZonelessTime(value: string): boolean {
  const ms = zonelessTime.test(value) ? Date.parse(`${value}Z`) : Number.NaN;
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(value.slice(0, 10));
}

const maxSeconds = 86_400;
const allowedSeconds = `a number of seconds above 0, at most ${maxSeconds}`;

const allowedEvents = "an array of at least one event type";
const allowedEntrypoints = "an array of at least one entrypoint";

/**
 * Marks an error message that follows directly after the field's name, e.g. "FIELD would not be sent". All other
 * messages follow after "FIELD is 5; it must be".
 */
const wholePredicate = { isWholePredicate: true };

const headerName = checkedText("the name of a header", (value) => /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(value)).refine(
  (name) => !isReservedHeader(name),
  { error: "would not be sent: the server or its connection sets this header; leave it out", params: wholePredicate },
);
const headerValue = checkedText("a string that a header can carry", (value) => /^[\t\x20-\x7e\x80-\xff]*$/.test(value));

const webhookEndpoint = z.object(
  {
    url: checkedText("an http or https URL", (value) => /^https?:$/.test(URL.parse(value)?.protocol ?? "")),
    events: z
      .array(
        checkedText(`one of ${eventSelectors.join(", ")}`, (value) => eventSelectors.includes(value)),
        allowedEvents,
      )
      .min(1, allowedEvents),
    headers: z.record(headerName, headerValue, "an object of strings").prefault({}),
  },
  "an object",
);

const entrypoints = z
  .array(z.object({ file: anyText, module: anyText, tag: filledText }, "an object"), allowedEntrypoints)
  .min(1, allowedEntrypoints)
  .superRefine((list, context) => {
    for (const [index, { tag }] of list.entries()) {
      const first = list.findIndex((other) => other.tag === tag);
      if (first === index) continue;
      const message = `is ${JSON.stringify(tag)}, as that of [${first}]; it must be another`;
      context.addIssue({ code: "custom", path: [index, "tag"], message, params: wholePredicate });
    }
  });

const agentFileSchema = z
  .object(
    {
      agent_name: filledText,
      framework: filledText,
      version: filledText,
      agent_architecture: z.object({ entrypoints }, "an object"),
      description: anyText.optional(),
      template: anyText.optional(),
      created_at: checkedText(
        "an ISO 8601 timestamp without a zone, such as 2026-01-05T08:00:00",
        isZonelessTime,
      ).optional(),
      agent_id: checkedText("a string of letters, digits, '.', '_', '~' and '-', a letter or digit first", (value) =>
        /^[a-z0-9][\w.~-]*$/i.test(value),
      ).optional(),
      template_source: z
        .object({ repo_url: anyText.optional(), author: anyText.optional(), path: anyText.optional() }, "an object")
        .prefault({}),
      auth_settings: z.object({ type: filledText.default("none") }, "an object").prefault({}),
      env_vars: z.record(z.string(), anyText, "an object of strings").prefault({}),
      deployment: z
        .object(
          {
            timeout: z
              .number(allowedSeconds)
              .gt(0, allowedSeconds)
              .max(maxSeconds, allowedSeconds)
              .default(deploymentDefaults.timeoutMs / 1000),
            memory: checkedText("a size with its unit, such as 512MB", (value) =>
              /^\d+(\.\d+)? ?[KMGT]i?B$/i.test(value),
            ).default(deploymentDefaults.memory),
          },
          "an object",
        )
        .prefault({}),
      webhooks: z
        .object({ endpoints: z.array(webhookEndpoint, "an array of webhook endpoints").default([]) }, "an object")
        .prefault({}),
    },
    "an object",
  )
  .transform((file) => ({
    agentName: file.agent_name,
    framework: file.framework,
    version: file.version,
    entrypoints: file.agent_architecture.entrypoints,
    description: file.description ?? null,
    template: file.template ?? null,
    createdAt: file.created_at ?? null,
    /** Id of the agent. `null` if the file has no id, so that the server must make an id. */
    agentId: file.agent_id ?? null,
    templateSource: {
      repoUrl: file.template_source.repo_url ?? null,
      author: file.template_source.author ?? null,
      path: file.template_source.path ?? null,
    },
    authType: file.auth_settings.type,
    envVars: file.env_vars,
    timeoutSeconds: file.deployment.timeout,
    memory: file.deployment.memory,
    endpoints: file.webhooks.endpoints,
  }));

export type AgentFile = Readonly<z.output<typeof agentFileSchema>>;

type AgentFileResult =
  | { readonly kind: "agent"; readonly file: AgentFile }
  | { readonly kind: "wrong"; readonly problems: readonly string[] };

export const maxAgentFileBytes = 1024 * 1024;

export function readAgentFile(content: string, notation: Notation): AgentFileResult {
  if (Buffer.byteLength(content) > maxAgentFileBytes) return { kind: "wrong", problems: ["the file exceeds 1 MiB"] };
  const source = parseSource(content, notation);
  if (source.kind === "problem") {
    const { problem, place } = source;
    return { kind: "wrong", problems: [`the file ${problem} ${formatPlace(place)}`] };
  }
  const parsed = agentFileSchema.safeParse(source.value, { reportInput: true });
  return parsed.success
    ? { kind: "agent", file: parsed.data }
    : { kind: "wrong", problems: parsed.error.issues.map((issue) => problemOf(issue, source)) };
}

const problemOf = (issue: z.core.$ZodIssue, source: Source): string =>
  `${describeIssue(issue)} ${formatPlace(source.placeOf(issue.path))}`;

const formatPlace = ({ line, column }: Place): string => `(line ${line}, column ${column})`;

function describeIssue(issue: z.core.$ZodIssue): string {
  // If an object key is invalid, zod puts the actual cause into a nested issue.
  const [inner = issue] = issue.code === "invalid_key" ? issue.issues : [];
  const path = issue.path.map((step) => (typeof step === "number" ? `[${step}]` : `.${String(step)}`)).join("");
  const place = path.replace(/^\./, "") || "the file";
  if (inner.code === "custom" && inner.params?.["isWholePredicate"] === true) return `${place} ${inner.message}`;
  const found = issue.input === undefined ? "missing" : preview(issue.input);
  return `${place} is ${found}; it must be ${inner.message}`;
}

function preview(value: unknown): string {
  const written = JSON.stringify(value);
  return written.length <= 40 ? written : `${written.slice(0, 37)}…`;
}

import type { HealthStatus } from "../spec/events-and-errors.ts";

/** The way in which an agent fails. `afterChunks` is the number of chunks that a stream sends before the failure. */
export type Failure =
  | { readonly kind: "none" }
  | { readonly kind: "crash"; readonly afterChunks: number }
  | { readonly kind: "overload"; readonly afterChunks: number; readonly retryAfterSeconds: number };

export interface Conversation {
  /** Number of the current turn of the conversation, from 1. */
  readonly turn: number;
  readonly previousQuery: string | null;
}

/** A function of an agent. Source: Resources, "Entrypoint". */
export interface Entrypoint {
  readonly file: string;
  readonly module: string;
  /** Name of the entrypoint in the path of the execute endpoint. The suffix `_stream` marks one that streams. */
  readonly tag: string;
}

/** The settings with which the server runs an agent. Source: Limits, Scope of limits 4. */
export interface Deployment {
  readonly id: string;
  readonly timeoutMs: number;
  /** The agent's memory with its unit, such as `512MB`. */
  readonly memory: string;
}

export interface Agent {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly framework: string;
  readonly version: string;
  readonly createdAt: string;
  readonly entrypoints: readonly Entrypoint[];
  readonly deployment: Deployment;
  readonly health: HealthStatus;
  readonly warnings: readonly string[];
  readonly processingMs: number;
  readonly chunkIntervalMs: number;
  readonly failure: Failure;
  readonly remembers: boolean;
  respond(query: string, conversation: Conversation, tag: string): string;
}

export const isStreaming = ({ tag }: Entrypoint): boolean => tag.endsWith("_stream");

/** Default settings of a deployment. Source: Limits, Scope of limits 4. */
export const deploymentDefaults = { timeoutMs: 30_000, memory: "512MB" } as const;

const plainTraits = {
  description: "Answers with the words it was given.",
  framework: "reference",
  version: "1.0.0",
  createdAt: "2026-01-05T08:00:00Z",
  entrypoints: [
    { file: "agent.py", module: "answer", tag: "answer" },
    { file: "agent.py", module: "answer_stream", tag: "answer_stream" },
  ],
  health: "healthy",
  warnings: [],
  processingMs: 0,
  chunkIntervalMs: 0,
  failure: { kind: "none" },
  remembers: false,
  respond: (query) => `You said: ${query}`,
} as const satisfies Partial<Agent>;

/** Creates a healthy agent that repeats the query, unless `traits` say otherwise. */
export function createAgent(id: string, traits: Partial<Agent> = {}): Agent {
  return { ...plainTraits, id, name: id, deployment: { ...deploymentDefaults, id: `dep_${id}` }, ...traits };
}

const numberedLines = Array.from({ length: 200 }, (_, line) => `line-${String(line + 1).padStart(3, "0")}`).join(" ");
const numberedDrops = Array.from({ length: 10 }, (_, drop) => `drop-${drop + 1}`).join(" ");
const multiScriptText = "Grüße 你好 世界 こんにちは 👩‍👩‍👧‍👦 🇨🇭 𝒳𝒴 e\u0301te\u0301 שלום مرحبا — ½ €5 🙂 done";

const respondWithTurn = (query: string, { turn, previousQuery }: Conversation) =>
  previousQuery === null ? `Turn ${turn}: ${query}` : `Turn ${turn}: ${query} (before: ${previousQuery})`;

const plainAgentCount = 13;

export const referenceAgents: readonly Agent[] = [
  createAgent("echo"),
  createAgent("storyteller", {
    description: "Tells a story of 200 words, one chunk each.",
    respond: () => numberedLines,
  }),
  createAgent("dripper", {
    description: "Streams ten words, one a second.",
    processingMs: 1000,
    chunkIntervalMs: 1000,
    respond: () => numberedDrops,
  }),
  createAgent("polyglot", {
    description: "Speaks in scripts, emoji and combining marks, and repeats the query.",
    respond: (query) => `${multiScriptText} ${query}`,
  }),
  createAgent("crasher", { description: "Fails at once.", failure: { kind: "crash", afterChunks: 0 } }),
  createAgent("breaker", {
    description: "Fails in mid-stream, after two chunks.",
    failure: { kind: "crash", afterChunks: 2 },
    respond: (query) => `Two words only ${query}`,
  }),
  createAgent("full", {
    description: "Is always overloaded.",
    failure: { kind: "overload", afterChunks: 0, retryAfterSeconds: 5 },
  }),
  createAgent("sleeper", { description: "Thinks for two seconds.", processingMs: 2000 }),
  createAgent("stuck", { description: "Thinks for longer than its timeout allows.", processingMs: 90_000 }),
  createAgent("worn", {
    description: "Works, but its checks show warnings.",
    health: "degraded",
    warnings: ["dependency store is slow", "memory is nearly used up"],
  }),
  createAgent("down", {
    description: "Its critical checks fail.",
    health: "unhealthy",
    failure: { kind: "crash", afterChunks: 0 },
  }),
  createAgent("keeper", {
    description: "Remembers the conversation of a session.",
    remembers: true,
    respond: respondWithTurn,
  }),
  createAgent("herald", { description: "Echoes; made for webhooks, as nothing else calls it." }),
  createAgent("elder", { description: "An agent of another version.", version: "0.9.3" }),
  ...Array.from({ length: plainAgentCount }, (_, index) => createAgent(`plain-${String(index + 1).padStart(2, "0")}`)),
];

/** Id of the agent that a run of the suites deploys and later removes. */
export const newAgentId = "newcomer";

export const agentsByRole = {
  answering: "echo",
  streaming: "echo",
  longStream: "storyteller",
  slowStream: "dripper",
  multiByte: "polyglot",
  slow: "sleeper",
  timingOut: "stuck",
  timingOutByDefault: "stuck",
  failing: "crasher",
  failingInStream: "breaker",
  overloaded: "full",
  degraded: "worn",
  unhealthy: "down",
  remembering: "keeper",
  rememberingInStream: "keeper",
  otherVersion: "elder",
  webhooked: "herald",
} as const;

import type { HealthStatus } from "../interface/events.ts";

/** How an agent's turn ends when it does not end well. `afterPieces` counts the chunks a stream sends first. */
export type Failure =
  | { readonly kind: "none" }
  | { readonly kind: "crash"; readonly afterPieces: number }
  | { readonly kind: "overload"; readonly afterPieces: number; readonly retryAfterSeconds: number };

/** What an agent knows of a conversation. */
export interface Conversation {
  /** This turn's number, from 1. */
  readonly turn: number;
  readonly previousQuery: string | null;
}

/** An agent of the reference server: data, and the one function that makes its words. */
export interface Agent {
  readonly id: string;
  readonly description: string;
  readonly framework: string;
  readonly version: string;
  readonly health: HealthStatus;
  readonly warnings: readonly string[];
  /** Milliseconds on the clock before the first word. */
  readonly thinksMs: number;
  /** Milliseconds on the clock between the chunks of a stream. */
  readonly betweenPiecesMs: number;
  readonly failure: Failure;
  readonly remembers: boolean;
  say(query: string, conversation: Conversation): string;
}

const echoed = (query: string) => `You said: ${query}`;

const plain: Agent = {
  id: "plain",
  description: "Answers with the words it was given.",
  framework: "reference",
  version: "1.0.0",
  health: "healthy",
  warnings: [],
  thinksMs: 0,
  betweenPiecesMs: 0,
  failure: { kind: "none" },
  remembers: false,
  say: echoed,
};

const story = Array.from({ length: 200 }, (_, line) => `line-${String(line + 1).padStart(3, "0")}`).join(" ");
const drops = Array.from({ length: 10 }, (_, drop) => `drop-${drop + 1}`).join(" ");
const manyTongues = "Grüße 你好 世界 こんにちは 👩‍👩‍👧‍👦 🇨🇭 𝒳𝒴 e\u0301te\u0301 שלום مرحبا — ½ €5 🙂 done";

const remembered = (query: string, { turn, previousQuery }: Conversation) =>
  previousQuery === null ? `Turn ${turn}: ${query}` : `Turn ${turn}: ${query} (before: ${previousQuery})`;

const roles: readonly Agent[] = [
  { ...plain, id: "echo" },
  { ...plain, id: "storyteller", description: "Tells a story of 200 words, one chunk each.", say: () => story },
  {
    ...plain,
    id: "dripper",
    description: "Streams ten words, one a second.",
    thinksMs: 1000,
    betweenPiecesMs: 1000,
    say: () => drops,
  },
  {
    ...plain,
    id: "polyglot",
    description: "Speaks in scripts, emoji and combining marks, and repeats the query.",
    say: (query) => `${manyTongues} ${query}`,
  },
  { ...plain, id: "crasher", description: "Fails at once.", failure: { kind: "crash", afterPieces: 0 } },
  {
    ...plain,
    id: "breaker",
    description: "Fails in mid-stream, after two chunks.",
    failure: { kind: "crash", afterPieces: 2 },
    say: (query) => `Two words only ${query}`,
  },
  {
    ...plain,
    id: "full",
    description: "Is always overloaded.",
    failure: { kind: "overload", afterPieces: 0, retryAfterSeconds: 5 },
  },
  { ...plain, id: "sleeper", description: "Thinks for two seconds.", thinksMs: 2000 },
  { ...plain, id: "stuck", description: "Thinks for longer than its timeout allows.", thinksMs: 90_000 },
  {
    ...plain,
    id: "worn",
    description: "Works, but its checks show warnings.",
    health: "degraded",
    warnings: ["dependency store is slow", "memory is nearly used up"],
  },
  {
    ...plain,
    id: "down",
    description: "Its critical checks fail.",
    health: "unhealthy",
    failure: { kind: "crash", afterPieces: 0 },
  },
  {
    ...plain,
    id: "keeper",
    description: "Remembers the conversation of a session.",
    remembers: true,
    say: remembered,
  },
  { ...plain, id: "elder", description: "An agent of another version.", version: "0.9.3" },
];

const plainCount = 14;

/** Every agent of the server, in the order of the listing. */
export const referenceAgents: readonly Agent[] = [
  ...roles,
  ...Array.from({ length: plainCount }, (_, index) => ({
    ...plain,
    id: `plain-${String(index + 1).padStart(2, "0")}`,
  })),
];

/** Which agent shows which behaviour, by the role names of a target file. */
export const agentsByRole = {
  answering: "echo",
  streaming: "echo",
  longStream: "storyteller",
  slowStream: "dripper",
  multiByte: "polyglot",
  slow: "sleeper",
  timingOut: "stuck",
  failing: "crasher",
  failingInStream: "breaker",
  overloaded: "full",
  degraded: "worn",
  unhealthy: "down",
  remembering: "keeper",
  otherVersion: "elder",
} as const;

/** How long an agent may take. Source: Limits, Scope of limits 4. */
export const agentTimeoutMs = 30_000;

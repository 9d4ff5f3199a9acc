import { describe, expect, it } from "vitest";

import type { Exchange } from "../../evidence/exchange.ts";
import { sampleOf } from "../../rules/limits/sample.ts";
import { headers } from "../headers/checks.ts";
import { exchange } from "../testing/evidence.ts";
import { judged } from "../testing/judged.ts";
import { usage } from "../usage/checks.ts";
import { limits } from "./checks.ts";
import { observeKeyUsage } from "./usage-ledger.ts";

const requests = {
  invoke: { path: "/agents/echo/invoke" },
  crash: { path: "/agents/echo/invoke", status: 500 },
  bad: { path: "/agents/echo/invoke", status: 400 },
  stream: { path: "/agents/echo/stream" },
  resumed: { path: "/agents/echo/stream", sent: { query: "hello", parameters: { resume_from_index: 2 } } },
  hot: { path: "/agents/echo/invoke", sent: { query: "hello", parameters: { temperature: 2 } } },
  hotStream: { path: "/agents/echo/stream", sent: { query: "hello", parameters: { temperature: 2 } } },
  list: { method: "GET", path: "/agents" },
  usage: { method: "GET", path: "/usage" },
  keyUsage: { method: "GET", path: "/keys/usage" },
  health: { method: "GET", path: "/agents/echo/health" },
  noAgent: { method: "GET", path: "/agents/nobody/health", status: 404 },
  refused: { method: "GET", path: "/agents", status: 401 },
} as const;
type Name = keyof typeof requests;

const standardCost = (name: Name): number => (name === "health" || name === "noAgent" ? 0 : 1);

interface Server {
  readonly cost?: (name: Name, index: number) => number;
  /** UsageCountChange of `requests.used` with a request. Default: its cost. */
  readonly used?: (name: Name) => number;
  /** Number of requests that a refilling window gives back during each request. */
  readonly refill?: number;
  /** Time from one request to the next, in ms. */
  readonly stepMs?: number;
  /** How many responses show `Remaining` as it was before their own request. */
  readonly showsBefore?: (name: Name) => boolean;
  readonly isFresh?: boolean;
  /** Whether streams have a window of their own. */
  readonly isApart?: boolean;
}

/** The evidence of requests to a server with such a limiter, one after another. */
function evidenceOf(names: readonly Name[], server: Server = {}) {
  const { cost = standardCost, refill = 0, stepMs = 10, showsBefore = () => false } = server;
  const { isFresh = true, isApart = false } = server;
  const { used = (name: Name) => cost(name, 0) } = server;
  let [left, counted] = [400, 100];
  const exchanges = names.map((name, index): Exchange => {
    const before = left;
    left = Math.min(500, left - cost(name, index) + refill);
    counted += used(name);
    const sentMs = index * stepMs;
    return exchange({
      id: `x${index}`,
      ...requests[name],
      sentMs,
      headMs: sentMs + 1,
      endMs: sentMs + 2,
      headers: [
        ["X-RateLimit-Limit", "500"],
        ["X-RateLimit-Remaining", String(showsBefore(name) ? before : left)],
        ["X-RateLimit-Reset", isApart && name === "stream" ? "1800000120" : "1800000060"],
        ["X-RateLimit-Reset-After", "50"],
      ],
      ...(name === "usage" && { json: { requests: { used: counted, limit: 5000, remaining: 5000 - counted } } }),
      ...(name === "keyUsage" && { json: { key: { id: 7 }, made: counted } }),
    });
  });
  const samples = exchanges.map((each) => sampleOf(each));
  return {
    samples: {
      keys: [{ key: "main", limits: null, isFresh, samples }],
      keylessMs: [],
      hasClock: false,
      startedUnixMs: 0,
    },
    all: { exchanges, validKeys: ["main"] },
  };
}

const ordinary: readonly Name[] = [
  ...(["invoke", "invoke", "invoke", "list", "list", "list", "usage", "usage", "usage"] as const),
  ...(["stream", "stream", "stream", "bad", "bad", "bad", "crash", "crash"] as const),
  ...(["health", "health", "health", "noAgent", "noAgent", "noAgent", "invoke", "invoke"] as const),
];
const costs =
  (other: Partial<Record<Name, number>>) =>
  (name: Name): number =>
    other[name] ?? standardCost(name);

const suites = { "HDR-12": headers, "LIM-11": limits, "HLT-16": limits } as const;
type Clause = keyof typeof suites;
const judge = (clause: Clause, server: Server, names: readonly Name[] = ordinary): string =>
  judged(suites[clause], `${clause}/ledger`, evidenceOf(names, server));
const brokenBy = (server: Server): Clause[] =>
  (Object.keys(suites) as Clause[]).filter((clause) => judge(clause, server) === "breach");

describe("the cost of requests", () => {
  it.each<[string, Server, Clause[]]>([
    ["is one, and nothing for health", {}, []],
    ["is two at one endpoint", { cost: costs({ list: 2 }) }, ["HDR-12"]],
    ["is nothing at one endpoint", { cost: costs({ list: 0 }) }, ["HDR-12"]],
    ["is two for streams", { cost: costs({ stream: 2 }) }, ["LIM-11"]],
    ["is two for streams, which have a window of their own", { cost: costs({ stream: 2 }), isApart: true }, ["LIM-11"]],
    ["is nothing for streams", { cost: costs({ stream: 0 }) }, ["LIM-11"]],
    ["is one for health of an agent that does not exist", { cost: costs({ noAgent: 1 }) }, ["HLT-16"]],
    ["is nothing for errors", { cost: costs({ bad: 0, crash: 0 }) }, []],
    ["is nothing for errors of one kind", { cost: costs({ bad: 0 }) }, []],
    ["is two for errors", { cost: costs({ bad: 2 }) }, ["HDR-12"]],
    ["is given back twice after errors", { cost: costs({ bad: -1 }) }, ["HDR-12"]],
    ["is shown before a request is counted", { showsBefore: () => true }, []],
    ["is shown before a stream is counted", { showsBefore: (name) => name === "stream" }, []],
    [
      "is two once, as somebody else may use the key",
      { cost: (name, at) => standardCost(name) + Number(at === 4) },
      [],
    ],
    ["is one more everywhere", { cost: (name) => standardCost(name) + 1 }, []],
    ["is given back by a window that refills", { refill: 1, stepMs: 120 }, []],
    ["is nothing at one endpoint, slowly", { cost: costs({ list: 0 }), stepMs: 1000 }, ["HDR-12"]],
    ["is nothing for a key that was used before", { cost: costs({ list: 0 }), isFresh: false }, ["HDR-12"]],
  ])("%s", (_, server, expected) => {
    expect(brokenBy(server)).toEqual(expected);
  });

  it("is not known of a single request", () => {
    expect(judge("HDR-12", { cost: costs({ list: 2 }) }, ["invoke", "list", "invoke", "stream"])).toBe("inapplicable");
  });

  it.each([
    ["are enough with three readings after it", 3, "breach"],
    ["are too few with two", 2, "holds"],
  ])("is one for health of a key whose other requests %s", (_, after, expected) => {
    const readings = Array.from({ length: after }, () => "usage" as const);
    const names: readonly Name[] = ["usage", "usage", "health", "health", ...readings];
    expect(judge("HLT-16", { cost: costs({ health: 1 }) }, names)).toBe(expected);
    expect(judge("HLT-16", {}, names)).toBe("holds");
  });

  it("is not judged for a key that is refused, or never let in", () => {
    const noAgents = Array.from({ length: 4 }, () => "noAgent" as const);
    const names: readonly Name[] = [...ordinary, "refused", ...noAgents, "bad", "bad", ...noAgents];
    const cost = (name: Name, at: number): number => (at < ordinary.length ? standardCost(name) : 1);
    expect(judge("HLT-16", { cost }, names)).toBe("holds");
    expect(judge("HLT-16", { cost: () => 1 }, [...noAgents, "bad", "bad", "bad", ...noAgents])).not.toBe("breach");
  });

  it("is two for requests with a parameter, although its neighbours seem dearer for it", () => {
    const names: readonly Name[] = [
      ...(["invoke", "invoke", "list", "hot", "stream", "hot", "usage", "usage", "usage"] as const),
      ...(["hot", "hot", "hot", "usage", "usage", "usage"] as const),
    ];
    expect(judge("HDR-12", { cost: costs({ hot: 2 }) }, names)).toBe("breach");
    expect(judge("HDR-12", {}, names)).toBe("holds");
  });

  it("is two for a parameter of two endpoints", () => {
    const reads: readonly Name[] = ["usage", "usage", "usage"];
    const names: readonly Name[] = [
      ...([...reads, "hot", "hot", "hot"] as const),
      ...([...reads, "hotStream", "hotStream", "hotStream", ...reads] as const),
    ];
    expect(judge("HDR-12", { cost: costs({ hot: 2, hotStream: 2 }) }, names)).toBe("breach");
    expect(judge("LIM-11", { cost: costs({ hot: 2, hotStream: 2 }) }, names)).toBe("breach");
    expect(judge("HDR-12", {}, names)).toBe("holds");
  });

  it("is that of streams with a parameter, between others", () => {
    const names: readonly Name[] = [...ordinary, "resumed", "resumed", "resumed"];
    expect(judge("LIM-11", { cost: costs({ resumed: 0 }) }, names)).toBe("breach");
    expect(judge("LIM-11", { cost: costs({ resumed: 1 }) }, names)).toBe("holds");
  });
});

describe("the growth of usage", () => {
  const reads: readonly Name[] = ["usage", "invoke", "usage", "list", "list", "usage", "stream", "stream", "usage"];
  it.each<[string, Server, string]>([
    ["is the fall of `Remaining`", {}, "holds"],
    ["leaves out streams", { used: costs({ stream: 0 }) }, "breach"],
    ["leaves out lists", { used: costs({ list: 0 }) }, "breach"],
    ["counts no errors, and neither does `Remaining`", { cost: costs({ bad: 0 }) }, "holds"],
    ["is always nothing, which USE-7 judges", { used: () => 0 }, "unproven"],
    ["is more than the fall", { used: () => 2 }, "unproven"],
  ])("%s", (_, server, expected) => {
    const names = [...reads, "invoke", "invoke", "usage"] as const;
    expect(judged(usage, "USE-7/ledger", evidenceOf(names, server))).toBe(expected);
  });
});

describe("the growth of key usage", () => {
  it("names the numbers that count requests", () => {
    const evidence = evidenceOf(["keyUsage", "invoke", "keyUsage", "list", "list", "keyUsage"]);
    expect(observeKeyUsage(evidence)).toMatchObject({ kind: "observed", text: expect.stringMatching(/: made$/) });
  });
});

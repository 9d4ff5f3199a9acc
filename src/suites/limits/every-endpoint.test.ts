import { describe, expect, it } from "vitest";

import type { Exchange, Header } from "../../evidence/exchange.ts";
import { exchange } from "../testing/evidence.ts";
import { judged } from "../testing/judged.ts";
import { limits } from "./checks.ts";

const reads = ["/agents", "/usage", "/keys/usage", "/operations/x", "/webhooks/x/deliveries"] as const;
const paths = ["/agents/echo/stream", "/agents/slow/stream", ...reads, "/agents/echo/invoke"] as const;
type Path = (typeof paths)[number];

interface Window {
  readonly key: string;
  readonly state?: string;
  readonly limit?: number;
  /** Paths that the target still admits after the limit is used up. */
  readonly admitted?: readonly Path[];
  readonly remaining?: number;
  /** Milliseconds between two requests. */
  readonly everyMs?: number;
}

let beganMs = 0;

/** The evidence of requests to several endpoints while a limit of a key is used up. */
function late({
  key,
  state = "minute used up",
  limit = 100,
  admitted = [],
  remaining = 0,
  everyMs = 2,
}: Window): Exchange[] {
  beganMs += 60_000;
  const headers: Header[] = [
    ["X-RateLimit-Limit", String(limit)],
    ["X-RateLimit-Remaining", String(remaining)],
    ["X-RateLimit-Reset", "1800000000"],
    ["X-RateLimit-Reset-After", "30"],
  ];
  return paths.map((path, at) => {
    const sentMs = beganMs + at * everyMs;
    const method = path.startsWith("/agents/") ? "POST" : "GET";
    const status = admitted.includes(path) ? 200 : 429;
    const times = { sentMs, headMs: sentMs + 1, endMs: sentMs + 1 };
    return { ...exchange({ key, method, path, status, headers, ...times }), keyState: state };
  });
}

const judge = (...windows: readonly Window[]) =>
  judged(limits, "HDR-19/every endpoint", {
    exchanges: windows.flatMap(late),
    validKeys: ["free", "pro", "team"],
  });

const keyUsage = { admitted: ["/keys/usage"] } as const;
const three = ["free", "pro", "team"] as const;

describe("an endpoint that is requested while a limit of the key is used up", () => {
  it("is refused as the others are", () => {
    expect(judge({ key: "free" })).toBe("holds");
    expect(judge(...three.map((key) => ({ key, ...keyUsage })))).toBe("breach");
    expect(
      judge(
        { key: "free", ...keyUsage },
        { key: "pro", ...keyUsage },
        { key: "free", state: "hour used up", ...keyUsage },
      ),
    ).toBe("breach");
  });

  it.each<[string, readonly Window[]]>([
    ["fewer than three requests", three.slice(1).map((key) => ({ key, ...keyUsage }))],
    ["a refusal of the same endpoint", [...three.map((key) => ({ key, ...keyUsage })), { key: "other" }]],
    [
      "another endpoint that got back a request",
      [...three.map((key) => ({ key, ...keyUsage })), { key: "other", admitted: ["/usage", "/keys/usage"] }],
    ],
    ["requests that come back faster", three.map((key) => ({ key, limit: 60_000, ...keyUsage }))],
    ["a slow server", three.map((key) => ({ key, everyMs: 200, ...keyUsage }))],
    ["refusals that report requests left", three.map((key) => ({ key, remaining: 5, ...keyUsage }))],
  ])("may be admitted: %s", (_, windows) => {
    expect(judge(...windows)).toBe("holds");
  });

  it.each<[string, readonly Path[]]>([
    ["few requests were refused", reads.slice(1, 4)],
    ["only agents were refused, as with spent tokens", reads],
  ])("proves nothing where %s", (_, admitted) => {
    expect(judge(...three.map((key) => ({ key, admitted })))).toBe("inapplicable");
  });

  it("proves nothing of other limits", () => {
    expect(judge(...three.map((key) => ({ key, state: "slots held", ...keyUsage })))).toBe("inapplicable");
    expect(judge()).toBe("inapplicable");
  });
});

describe("requests of one endpoint while a limit of the key is used up", () => {
  /** The evidence of lists, of which the target admits these pages. Other endpoints are refused. */
  const judgePages = (keys: readonly string[], ...admitted: readonly number[]): string =>
    judged(limits, "HDR-19/every kind of request", {
      exchanges: keys.flatMap((key) => late({ key }).flatMap((each) => [each, ...pagesAfter(each, admitted)])),
      validKeys: ["free", "pro", "team"],
    });

  /** Requests for pages 1 and 2 of the list, right after the request of the short list. */
  const pagesAfter = (each: Exchange, admitted: readonly number[]): Exchange[] => {
    if (!each.request.url.endsWith("/v1/agents")) return [];
    return [1, 2].map((page): Exchange => {
      const { answer, request } = each;
      const sentMs = each.sentMs + page * 0.2;
      const times = { headMs: sentMs + 0.1, endMs: sentMs + 0.1 };
      return {
        ...each,
        id: `${each.id} page ${page}`,
        sentMs: sentMs + 1,
        request: { ...request, url: `${request.url}?page=${page}` },
        answer:
          answer.kind === "answered"
            ? {
                ...answer,
                status: admitted.includes(page) ? 200 : 429,
                headMs: times.headMs + 1,
                endMs: times.endMs + 1,
              }
            : answer,
      };
    });
  };

  it.each<[string, readonly string[], readonly number[], string]>([
    ["all are refused", three, [], "holds"],
    ["one page is admitted on three keys", three, [2], "breach"],
    ["one page is admitted on two keys", three.slice(1), [2], "holds"],
    ["two pages are admitted, as by a limiter that gives back requests", three, [1, 2], "holds"],
  ])("%s", (_, keys, admitted, kind) => {
    expect(judgePages(keys, ...admitted)).toBe(kind);
  });
});

import { type ReceivedRequest, event, type Reply, streamOf } from "./friendly.ts";
import type { Harm } from "./server.ts";

export type Modes = Readonly<Record<string, Harm>>;

export const everywhere = (): boolean => true;
export const isRun = ({ path }: ReceivedRequest): boolean => /\/(invoke|stream)$/.test(path);
export const isStream = ({ path }: ReceivedRequest): boolean => path.endsWith("/stream");
export const isList = ({ method, path }: ReceivedRequest): boolean => method === "GET" && path === "/agents";

export const named = <T>(entries: readonly (readonly [string, T])[], harmOf: (value: T) => Harm): Modes =>
  Object.fromEntries(entries.map(([name, value]) => [name, harmOf(value)]));

export const reply = (change: Extract<Harm, { kind: "reply" }>["change"]): Harm => ({ kind: "reply", change });

/** Replaces the body of responses to invoke. Other responses stay correct. */
export const invoked = (body: (key: string) => string): Harm =>
  reply((friendly, request, key) => (request.path.endsWith("/invoke") ? { ...friendly, body: body(key) } : friendly));

export const headed = (headers: (key: string, request: ReceivedRequest) => Reply["headers"]): Harm =>
  reply((friendly, request, key) => ({ ...friendly, headers: [...friendly.headers, ...headers(key, request)] }));

export const streamed = (events: (key: string) => readonly string[]): Harm =>
  reply((friendly, request, key) => (isStream(request) ? streamOf(...events(key)) : friendly));

export const chunks = (contents: readonly string[]): string[] => [
  event("start", { message: "" }),
  ...contents.map((content, index) => event("chunk", { content, index })),
  event("done", { message: contents.join(""), usage: { total_tokens: 1 }, execution_time: 0 }),
];

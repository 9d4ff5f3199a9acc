import { rounded } from "../../base/numbers.ts";
import { type Body, type Exchange, type Header, headerValue, type SentRequest } from "../../evidence/exchange.ts";
import type { Evidence } from "../../evidence/evidence.ts";
import type { Report } from "../model/report.ts";

interface HarInput {
  readonly report: Pick<Report, "started" | "suite" | "target">;
  readonly evidence: Pick<Evidence, "exchanges">;
}

/** Renders the exchanges of a run as an HTTP Archive 1.2. A request without a response has the status 0. */
export const renderHar = (input: HarInput): string => [...harChunks(input)].join("");

/** Renders the same text as {@link renderHar}, but in chunks, because an archive with every body may be long. */
export function* harChunks({ report, evidence }: HarInput): Generator<string> {
  const startedMs = Date.parse(report.started);
  const log = {
    version: "1.2",
    creator: { name: "agent-hosting-conformance", version: report.suite.version },
    pages: [],
    comment: `${report.target.name}: the requests of a conformance run, without its secrets`,
    entries: [],
  };
  const [head, tail] = JSON.stringify({ log }, null, 1).split(/(?<="entries": \[)(?=\]\s*\}\s*\}$)/);
  yield head ?? "";
  let before = "\n";
  for (const exchange of evidence.exchanges) {
    yield before + JSON.stringify(harEntry(exchange, startedMs), null, 1);
    before = ",\n";
  }
  yield `${tail}\n`;
}

function harEntry(exchange: Exchange, startedMs: number): object {
  const { id, request, answer, sentMs, clockMs } = exchange;
  const waitMs = Math.max(0, (answer.kind === "answered" ? answer.headMs : answer.endMs) - sentMs);
  const receiveMs = answer.kind === "answered" ? Math.max(0, answer.endMs - answer.headMs) : 0;
  return {
    startedDateTime: new Date(startedMs + sentMs).toISOString(),
    time: rounded(waitMs, 3) + rounded(receiveMs, 3),
    request: harRequest(request),
    response: harResponse(answer),
    cache: {},
    // `wait` includes the time for sending the request, which the harness does not measure separately.
    timings: { send: 0, wait: rounded(waitMs, 3), receive: rounded(receiveMs, 3) },
    comment: id,
    // Milliseconds by which the test clock had been advanced. They explain why rate-limit windows seem to end early.
    ...(clockMs === 0 ? {} : { _clockMs: clockMs }),
  };
}

function harRequest({ method, url, headers, body }: SentRequest): object {
  return {
    method,
    url,
    httpVersion: "HTTP/1.1",
    cookies: [],
    headers: headers.map(harHeader),
    queryString: queryParameters(url),
    ...(body.kind === "none" ? {} : { postData: { mimeType: contentTypeOf(headers), ...harText(body, "comment") } }),
    headersSize: -1,
    bodySize: bodyBytes(body),
  };
}

function harResponse(answer: Exchange["answer"]): object {
  const unknownMembers = { cookies: [], redirectURL: "", headersSize: -1 };
  if (answer.kind === "unanswered")
    return {
      status: 0,
      statusText: "",
      httpVersion: "HTTP/1.1",
      headers: [],
      content: { size: 0, mimeType: "x-unknown" },
      bodySize: -1,
      ...unknownMembers,
      _error: `${answer.reason}: ${answer.detail}`,
    };
  const { status, headers, body, ending } = answer;
  return {
    status,
    statusText: "",
    httpVersion: "HTTP/1.1",
    ...unknownMembers,
    headers: headers.map(harHeader),
    content: { size: bodyBytes(body), mimeType: contentTypeOf(headers), ...harText(body, "encoding") },
    redirectURL: headerValue(headers, "location") ?? "",
    // -1 means unknown. This field counts bytes on the wire, but the evidence counts decoded bytes.
    bodySize: -1,
    ...(ending.kind === "complete"
      ? {}
      : { comment: "detail" in ending ? `${ending.kind}: ${ending.detail}` : ending.kind }),
  };
}

const harHeader = ([name, value]: Header): object => ({ name, value });

const contentTypeOf = (headers: readonly Header[]): string => headerValue(headers, "content-type") ?? "x-unknown";

const bodyBytes = (body: Body): number => (body.kind === "none" ? 0 : body.bytes);

/** Parses the query of a URL by hand, because the class `URL` would reject some recorded URLs. */
function queryParameters(url: string): object[] {
  const [, query = ""] = /\?([^#]*)/.exec(url) ?? [];
  return query
    .split("&")
    .filter((pair) => pair !== "")
    .map((pair) => {
      const [name = "", ...rest] = pair.split("=");
      return { name: decodeQueryPart(name), value: decodeQueryPart(rest.join("=")) };
    });
}

function decodeQueryPart(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
}

/** Returns the members with the text of a body. For a binary body, the member `encodingMember` says `base64`. */
function harText(body: Body, encodingMember: "comment" | "encoding"): object {
  switch (body.kind) {
    case "none":
      return {};
    case "text":
      return { text: body.text };
    case "base64":
      return { text: body.base64, [encodingMember]: "base64" };
    case "cut": {
      const { head, bytes, sha256 } = body;
      return { text: head, comment: `only the beginning was kept, of ${bytes} bytes with the SHA-256 ${sha256}` };
    }
  }
}

import type { Body, Exchange, Header } from "../../evidence/exchange.ts";

/** Names, in lower case, of headers whose values are secrets. */
const secretHeaders: ReadonlySet<string> = new Set([
  "authorization",
  "proxy-authorization",
  "cookie",
  "set-cookie",
  "x-api-key",
  "api-key",
  "x-auth-token",
  "x-access-token",
  "x-csrf-token",
  "x-amz-security-token",
]);

const secretParameterName = /key|token|secret|signature|password|passwd|auth|session|code/i;

/**
 * Removes secrets from the places where they usually are: authorization headers, cookies, JSON fields, and URL
 * parameters that look like keys. Keys elsewhere are redacted later, with the report.
 */
export function withoutUsualSecrets(exchange: Exchange): Exchange {
  const { request, answer, key } = exchange;
  const clean = {
    ...exchange,
    request: {
      ...request,
      url: cleanUrl(request.url),
      headers: request.headers.map((each) => cleanHeader(each, key)),
      body: cleanBody(request.body),
    },
  };
  if (answer.kind !== "answered") return clean;
  const headers = answer.headers.map((each) => cleanHeader(each, null));
  return { ...clean, answer: { ...answer, headers, body: cleanBody(answer.body) } };
}

/** Matches the names of JSON fields that hold secrets, such as the secret of a webhook. */
const secretFieldName =
  /"((?:signing_|webhook_|client_)?secret|api_?key|access_token|refresh_token|password)"(\s*:\s*)"(?:[^"\\]|\\.)+"/gi;

const withoutFields = (text: string): string => text.replace(secretFieldName, '"$1"$2"[redacted]"');

function cleanBody(body: Body): Body {
  if (body.kind === "text") return { ...body, text: withoutFields(body.text) };
  return body.kind === "cut" ? { ...body, head: withoutFields(body.head), tail: withoutFields(body.tail) } : body;
}

function cleanHeader([name, value]: Header, key: string | null): Header {
  if (!secretHeaders.has(name.toLowerCase())) return [name, value];
  if (name.toLowerCase() !== "authorization") return [name, "[redacted]"];
  const [, scheme] = /^([A-Za-z][A-Za-z0-9_-]{0,20})\s/.exec(value) ?? [];
  const shown = key === null ? "[redacted]" : `[redacted ${key}]`;
  return [name, scheme === undefined ? shown : `${scheme} ${shown}`];
}

function cleanUrl(given: string): string {
  const url = new URL(given);
  const names = [...url.searchParams.keys()].filter((name) => secretParameterName.test(name));
  if (names.length === 0 && url.username === "" && url.password === "") return given;
  url.username = "";
  url.password = "";
  for (const name of names) url.searchParams.set(name, "redacted");
  return url.href;
}

/** Changes to the default entry of an HTTP archive. */
export interface EntryChanges {
  readonly method?: string;
  readonly url?: string;
  readonly status?: number;
  readonly sent?: readonly (readonly [string, string])[];
  readonly body?: string;
  readonly headers?: readonly (readonly [string, string])[];
  readonly content?: Readonly<Record<string, unknown>>;
  /** Fields at the top level of the entry. */
  readonly entry?: Readonly<Record<string, unknown>>;
}

const headersFrom = (headers: readonly (readonly [string, string])[]) =>
  headers.map(([name, value]) => ({ name, value }));

/** Creates an entry of an HTTP archive: a request that took 40 ms, with a JSON response. */
export const anEntry = ({
  method = "GET",
  url = "http://127.0.0.1:8080/v1/usage",
  status = 200,
  sent = [["Authorization", "Bearer ah_test_1f6b0c9d3e"]],
  body,
  headers = [["Content-Type", "application/json"]],
  content = { text: "{}" },
  entry = {},
}: EntryChanges = {}) => ({
  startedDateTime: "2026-01-01T00:00:00.000Z",
  time: 40,
  timings: { send: 0, wait: 30, receive: 10 },
  request: {
    method,
    url,
    httpVersion: "HTTP/1.1",
    headers: headersFrom(sent),
    ...(body === undefined ? { bodySize: 0 } : { postData: { mimeType: "application/json", text: body } }),
  },
  response: { status, headers: headersFrom(headers), content },
  ...entry,
});

/** Creates an HTTP archive. By default, its creator is mitmproxy, which records the time at which it really sent a request. */
export const archive = (entries: readonly object[], creator = "mitmproxy") => ({
  log: { version: "1.2", creator: { name: creator, version: "1" }, entries },
});

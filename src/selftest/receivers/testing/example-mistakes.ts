import type { ClauseId } from "../../../spec/clauses.ts";

/** A mistake in an example receiver, as a change of its source. */
export interface SourceMistake {
  readonly name: string;
  readonly breaks: ClauseId;
  /** The text to replace, and its replacement. */
  readonly replace: readonly [before: string, after: string];
}

const spoil = (name: string, breaks: ClauseId, before: string, after: string): SourceMistake => ({
  name,
  breaks,
  replace: [before, after],
});

/** Mistakes that people make in Python. */
export const pythonMistakes: readonly SourceMistake[] = [
  spoil("a key without its prefix", "RCV-1", '["WEBHOOK_SECRET"].encode()', '["WEBHOOK_SECRET"].encode()[2:]'),
  spoil("SHA-1", "RCV-1", "hashlib.sha256", "hashlib.sha1"),
  spoil("the older header", "RCV-1", "X-Service-Signature", "X-Signature"),
  spoil(
    "JSON that is printed again",
    "RCV-2",
    "KEY, body,",
    'KEY, json.dumps(json.loads(body), separators=(",", ":"), ensure_ascii=False).encode(),',
  ),
  spoil("decoded text", "RCV-2", "KEY, body,", 'KEY, body.decode("latin-1").encode(),'),
  spoil(
    "a field that may be absent",
    "RCV-3",
    "if is_signed else",
    'if is_signed and json.loads(body)["deployment_id"] else',
  ),
  spoil("a status of one's own", "RCV-6", "else 401", "else 403 if given else 401"),
  spoil(
    "a comparison of the beginning",
    "RCV-6",
    "hmac.compare_digest(expected.encode(), given.encode())",
    "given != '' and expected.startswith(given)",
  ),
  spoil("no refusal at all", "RCV-6", "204 if is_signed else 401", "401 if not given else 200"),
  spoil("an absent signature that is accepted", "RCV-7", "else 401", "else 401 if given else 204"),
  spoil("an absent signature that is a bad request", "RCV-8", "else 401", "else 401 if given else 400"),
];

/** Mistakes that people make in TypeScript. */
export const typescriptMistakes: readonly SourceMistake[] = [
  spoil("base64", "RCV-1", 'digest("hex")', 'digest("base64")'),
  spoil("SHA-512", "RCV-1", '"sha256"', '"sha512"'),
  spoil("a redirect", "RCV-1", "204 : 401", "302 : 401"),
  spoil("JSON that is printed again", "RCV-2", "update(body)", "update(JSON.stringify(JSON.parse(body.toString())))"),
  spoil("text of another encoding", "RCV-2", "update(body)", 'update(body.toString("latin1"))'),
  spoil("text in ASCII", "RCV-2", "update(body)", 'update(body.toString("ascii"))'),
  spoil(
    "a field that may be absent",
    "RCV-3",
    "isSigned ? 204",
    'isSigned ? body.includes("deployment_id") ? 204 : 400',
  ),
  spoil("half of the events", "RCV-5", "isSigned ? 204", "isSigned ? body.includes('\"deployment.') ? 404 : 204"),
  spoil("a status of one's own", "RCV-6", ": 401", ": given.length > 0 ? 400 : 401"),
  spoil("a comparison of lengths", "RCV-6", "timingSafeEqual(expected, given)", "given.length === 64"),
  spoil(
    "an absent signature that is accepted",
    "RCV-7",
    "const isSigned = ",
    "const isSigned = given.length === 0 || ",
  ),
];

/** Mistakes that people make in Go. */
export const goMistakes: readonly SourceMistake[] = [
  spoil("SHA-224", "RCV-1", "sha256.New,", "sha256.New224,"),
  spoil("a redirect", "RCV-1", "http.StatusNoContent", "http.StatusFound"),
  spoil("no accepted status", "RCV-1", "http.StatusNoContent", "http.StatusNotModified"),
  spoil("the body twice", "RCV-1", "mac.Write(body)", "mac.Write(body); mac.Write(body)"),
  spoil(
    "a status of one's own",
    "RCV-6",
    "w.WriteHeader(http.StatusUnauthorized)",
    'if r.Header.Get("X-Service-Signature") == "" { w.WriteHeader(401) } else { w.WriteHeader(403) }',
  ),
  spoil(
    "a success that drops the event",
    "RCV-6",
    "w.WriteHeader(http.StatusUnauthorized)",
    'if r.Header.Get("X-Service-Signature") == "" { w.WriteHeader(401) } else { w.WriteHeader(200) }',
  ),
  spoil(
    "a failure",
    "RCV-6",
    "w.WriteHeader(http.StatusUnauthorized)",
    'if r.Header.Get("X-Service-Signature") == "" { w.WriteHeader(401) } else { w.WriteHeader(500) }',
  ),
  spoil(
    "an absent signature that is accepted",
    "RCV-7",
    "if err != nil || ",
    'if err != nil || r.Header.Get("X-Service-Signature") != "" && ',
  ),
  spoil(
    "an absent signature that fails",
    "RCV-7",
    "w.WriteHeader(http.StatusUnauthorized)",
    'if r.Header.Get("X-Service-Signature") == "" { w.WriteHeader(500) } else { w.WriteHeader(401) }',
  ),
  spoil(
    "an absent signature that is a bad request",
    "RCV-8",
    "w.WriteHeader(http.StatusUnauthorized)",
    'if r.Header.Get("X-Service-Signature") == "" { w.WriteHeader(400) } else { w.WriteHeader(401) }',
  ),
];

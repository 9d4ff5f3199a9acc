import type { ClauseId } from "../../../spec/clauses.ts";

/** A mistake in an example receiver, as a change of its source. */
export interface SourceMistake {
  readonly name: string;
  readonly breaks: ClauseId;
  /** The text to replace, and its replacement. */
  readonly replace: readonly [before: string, after: string];
}

const sourceMistake = (name: string, breaks: ClauseId, before: string, after: string): SourceMistake => ({
  name,
  breaks,
  replace: [before, after],
});

/** Mistakes that people make in Python. */
export const pythonMistakes: readonly SourceMistake[] = [
  sourceMistake("a key without its prefix", "RCV-1", '["WEBHOOK_SECRET"].encode()', '["WEBHOOK_SECRET"].encode()[2:]'),
  sourceMistake("SHA-1", "RCV-1", "hashlib.sha256", "hashlib.sha1"),
  sourceMistake("the older header", "RCV-1", "X-Service-Signature", "X-Signature"),
  sourceMistake(
    "JSON that is printed again",
    "RCV-2",
    "KEY, body,",
    'KEY, json.dumps(json.loads(body), separators=(",", ":"), ensure_ascii=False).encode(),',
  ),
  sourceMistake("decoded text", "RCV-2", "KEY, body,", 'KEY, body.decode("latin-1").encode(),'),
  sourceMistake(
    "a field that may be absent",
    "RCV-3",
    "if is_signed else",
    'if is_signed and json.loads(body)["deployment_id"] else',
  ),
  sourceMistake("a status of one's own", "RCV-6", "else 401", "else 403 if given else 401"),
  sourceMistake(
    "a comparison of the beginning",
    "RCV-6",
    "hmac.compare_digest(expected.encode(), given.encode())",
    "given != '' and expected.startswith(given)",
  ),
  sourceMistake("no refusal at all", "RCV-6", "204 if is_signed else 401", "401 if not given else 200"),
  sourceMistake("an absent signature that is accepted", "RCV-7", "else 401", "else 401 if given else 204"),
  sourceMistake("an absent signature that is a bad request", "RCV-8", "else 401", "else 401 if given else 400"),
];

/** Mistakes that people make in TypeScript. */
export const typescriptMistakes: readonly SourceMistake[] = [
  sourceMistake("base64", "RCV-1", 'digest("hex")', 'digest("base64")'),
  sourceMistake("SHA-512", "RCV-1", '"sha256"', '"sha512"'),
  sourceMistake("a redirect", "RCV-1", "204 : 401", "302 : 401"),
  sourceMistake(
    "JSON that is printed again",
    "RCV-2",
    "update(body)",
    "update(JSON.stringify(JSON.parse(body.toString())))",
  ),
  sourceMistake("text of another encoding", "RCV-2", "update(body)", 'update(body.toString("latin1"))'),
  sourceMistake("text in ASCII", "RCV-2", "update(body)", 'update(body.toString("ascii"))'),
  sourceMistake(
    "a field that may be absent",
    "RCV-3",
    "isSigned ? 204",
    'isSigned ? body.includes("deployment_id") ? 204 : 400',
  ),
  sourceMistake(
    "half of the events",
    "RCV-5",
    "isSigned ? 204",
    "isSigned ? body.includes('\"deployment.') ? 404 : 204",
  ),
  sourceMistake("a status of one's own", "RCV-6", ": 401", ": given.length > 0 ? 400 : 401"),
  sourceMistake("a comparison of lengths", "RCV-6", "timingSafeEqual(expected, given)", "given.length === 64"),
  sourceMistake(
    "an absent signature that is accepted",
    "RCV-7",
    "const isSigned = ",
    "const isSigned = given.length === 0 || ",
  ),
];

/** Changes the statuses for an absent and for a wrong signature. */
const goStatuses = (name: string, breaks: ClauseId, absent: number, wrong: number): SourceMistake =>
  sourceMistake(
    name,
    breaks,
    "w.WriteHeader(http.StatusUnauthorized)",
    `if r.Header.Get("X-Service-Signature") == "" { w.WriteHeader(${absent}) } else { w.WriteHeader(${wrong}) }`,
  );

/** Mistakes that people make in Go. */
export const goMistakes: readonly SourceMistake[] = [
  sourceMistake("SHA-224", "RCV-1", "sha256.New,", "sha256.New224,"),
  sourceMistake("a redirect", "RCV-1", "http.StatusNoContent", "http.StatusFound"),
  sourceMistake("no accepted status", "RCV-1", "http.StatusNoContent", "http.StatusNotModified"),
  sourceMistake("the body twice", "RCV-1", "mac.Write(body)", "mac.Write(body); mac.Write(body)"),
  goStatuses("a status of one's own", "RCV-6", 401, 403),
  goStatuses("a success that drops the event", "RCV-6", 401, 200),
  goStatuses("a failure", "RCV-6", 401, 500),
  sourceMistake(
    "an absent signature that is accepted",
    "RCV-7",
    "if err != nil || ",
    'if err != nil || r.Header.Get("X-Service-Signature") != "" && ',
  ),
  goStatuses("an absent signature that fails", "RCV-7", 500, 401),
  goStatuses("an absent signature that is a bad request", "RCV-8", 400, 401),
];

const wsgiHandled = '    return "204 No Content"';
const wsgiHandledAfter = (line: string): string => `    ${line}\n${wsgiHandled}`;
const wsgiRefused = 'else "401 Unauthorized"';

/** Mistakes that people make in a WSGI application. */
export const wsgiMistakes: readonly SourceMistake[] = [
  sourceMistake("GitHub's prefix", "RCV-1", "expected = hmac", 'expected = "sha256=" + hmac'),
  sourceMistake("a key that is a hash", "RCV-1", "hmac.new(SECRET,", "hmac.new(hashlib.sha256(SECRET).digest(),"),
  sourceMistake(
    "JSON with sorted keys",
    "RCV-1",
    "SECRET, body,",
    'SECRET, json.dumps(json.loads(body), separators=(",", ":"), ensure_ascii=False, sort_keys=True).encode(),',
  ),
  sourceMistake("a body that is trimmed", "RCV-2", "SECRET, body,", "SECRET, body.strip(),"),
  sourceMistake("a field that may be absent", "RCV-3", wsgiHandled, wsgiHandledAfter('event["deployment_id"]')),
  sourceMistake(
    "a model that allows no other fields",
    "RCV-4",
    wsgiHandled,
    wsgiHandledAfter(
      'if set(event) - {"id", "type", "created", "agent_id", "deployment_id", "data"}: return "422 Unprocessable Content"',
    ),
  ),
  sourceMistake(
    "a handler for the events of agents only",
    "RCV-5",
    wsgiHandled,
    wsgiHandledAfter('if not event["type"].startswith("agent."): return "400 Bad Request"'),
  ),
  sourceMistake(
    "a comparison by `in`",
    "RCV-6",
    'return hmac.compare_digest(expected.encode(), signature.encode("latin-1"))',
    'return signature != "" and signature in expected',
  ),
  sourceMistake("a refusal for good", "RCV-6", wsgiRefused, 'else "410 Gone" if signature else "401 Unauthorized"'),
  sourceMistake("a check of signed deliveries only", "RCV-7", "if is_signed(", 'if signature == "" or is_signed('),
  sourceMistake(
    "an absent signature that is forbidden",
    "RCV-8",
    wsgiRefused,
    'else "401 Unauthorized" if signature else "403 Forbidden"',
  ),
];

const goDecoded = "\tlog.Print(received.Type)";
const goRefusedIf = (condition: string, status: number): string =>
  `\tif ${condition} {\n\t\tw.WriteHeader(${status})\n\t\treturn\n\t}\n${goDecoded}`;
const goRefused = 'http.Error(w, "The signature is wrong.", http.StatusUnauthorized)';

/** Mistakes that people make in a middleware in Go. */
export const goMiddlewareMistakes: readonly SourceMistake[] = [
  sourceMistake("GitHub's header", "RCV-1", "X-Service-Signature", "X-Hub-Signature-256"),
  sourceMistake(
    "a key without its prefix",
    "RCV-1",
    'os.Getenv("WEBHOOK_SECRET"))',
    'os.Getenv("WEBHOOK_SECRET")[6:])',
  ),
  sourceMistake("a body that the next handler does not get", "RCV-1", "bytes.NewReader(body)", "bytes.NewReader(nil)"),
  sourceMistake(
    "JSON that is compacted",
    "RCV-2",
    "mac.Write(body)",
    "var compact bytes.Buffer\n\t\t_ = json.Compact(&compact, body)\n\t\tmac.Write(compact.Bytes())",
  ),
  sourceMistake("a body that is trimmed", "RCV-2", "mac.Write(body)", "mac.Write(bytes.TrimSpace(body))"),
  sourceMistake("a field that may be absent", "RCV-3", goDecoded, goRefusedIf("received.DeploymentID == nil", 422)),
  sourceMistake(
    "a decoder that allows no other fields",
    "RCV-4",
    "if err := json.NewDecoder(r.Body).Decode(&received);",
    "decoder := json.NewDecoder(r.Body)\n\tdecoder.DisallowUnknownFields()\n\tif err := decoder.Decode(&received);",
  ),
  sourceMistake("an event without a handler", "RCV-5", goDecoded, goRefusedIf('received.Type == "agent.timeout"', 501)),
  sourceMistake(
    "a comparison of the beginning",
    "RCV-6",
    "!hmac.Equal([]byte(expected), []byte(given))",
    'given == "" || !bytes.HasPrefix([]byte(expected), []byte(given))',
  ),
  sourceMistake(
    "an error that is not checked",
    "RCV-6",
    goRefused,
    `if given == "" {\n\t\t\t\t${goRefused}\n\t\t\t} else {\n\t\t\t\thttp.Error(w, "", http.StatusInternalServerError)\n\t\t\t}`,
  ),
  sourceMistake("an absent signature that is accepted", "RCV-7", "err != nil || !", 'err != nil || given != "" && !'),
];

const checkedEvent = "  process.stdout.write(";
const refusedIf = (condition: string, status: number): string =>
  `  if (${condition}) return ${status};\n${checkedEvent}`;

/** Mistakes that people make with async functions in TypeScript. */
export const iteratingMistakes: readonly SourceMistake[] = [
  sourceMistake(
    "a key that is decoded from base64",
    "RCV-1",
    '("sha256", secret)',
    '("sha256", Buffer.from(secret, "base64"))',
  ),
  sourceMistake("a status that is no success", "RCV-1", "return 204;", "return 304;"),
  sourceMistake("text that is normalised", "RCV-2", "update(body)", 'update(body.toString("utf8").normalize("NFD"))'),
  sourceMistake("a body that is trimmed", "RCV-2", "update(body)", 'update(body.toString("utf8").trim())'),
  sourceMistake(
    "a field that may be absent",
    "RCV-3",
    checkedEvent,
    refusedIf("event.deployment_id!.length === 0", 400),
  ),
  sourceMistake(
    "a schema that allows no other fields",
    "RCV-4",
    checkedEvent,
    refusedIf("!Object.keys(event).every((name) => /^(id|type|created|agent_id|deployment_id|data)$/.test(name))", 422),
  ),
  sourceMistake(
    "an event without a handler",
    "RCV-5",
    checkedEvent,
    refusedIf('event.type === "deployment.health_changed"', 404),
  ),
  sourceMistake("a comparison that throws", "RCV-6", "given.length === expected.length &&", "given.length > 0 &&"),
  sourceMistake(
    "a status of one's own",
    "RCV-6",
    "return 401;",
    'return request.headers["x-service-signature"] ? 403 : 401;',
  ),
  sourceMistake(
    "an absent signature that is accepted",
    "RCV-7",
    "return given.length ===",
    "return given.length === 0 || given.length ===",
  ),
  sourceMistake(
    "an event that came before",
    "RCV-10",
    checkedEvent,
    `  const seen = ((globalThis as { seen?: Set<string> }).seen ??= new Set());\n${refusedIf("seen.size === seen.add(event.id).size", 409)}`,
  ),
];

import type { ClauseId } from "../../spec/clauses.ts";
import { type ClientChange, legalClient, wrongReaction, wrongRequest } from "./client-change.ts";

const start = "    failures = 0\n";
const ownHeaders = '"Authorization": f"Bearer {KEY}", "Accept": "application/json"';
const jsonHeaders = `{${ownHeaders}, "Content-Type": "application/json"}`;

const extraRequest = (name: string, breaks: ClauseId, request: string): ClientChange =>
  wrongRequest(name, breaks, start, `${start}    http.${request}\n`);

const get = (path: string, headers: string): string => `get(f"{BASE_URL}${path}", headers=${headers})`;
const post = (path: string, content: string, headers = jsonHeaders): string =>
  `post(f"{BASE_URL}${path}", content=${content}, headers=${headers})`;
const invoke = "/agents/{AGENT}/invoke";

const wrongSignature = (name: string, breaks: ClauseId, change: string): ClientChange =>
  extraRequest(name, breaks, get("/usage", `{**headers("GET", "/v1/usage", b"", "application/json"), ${change}}`));

const requestMistakes: readonly ClientChange[] = [
  extraRequest("the version segment twice", "CLI-1", get("/v1/usage", `{${ownHeaders}}`)),
  extraRequest("a request without a key", "CLI-2", get("/usage", '{"Accept": "application/json"}')),
  extraRequest(
    "another scheme",
    "CLI-2",
    get("/usage", '{"Authorization": f"Token {KEY}", "Accept": "application/json"}'),
  ),
  extraRequest(
    "a key without its last character",
    "CLI-2",
    get("/usage", '{"Authorization": f"Bearer {KEY[:-1]}", "Accept": "application/json"}'),
  ),
  extraRequest("a body without a type", "CLI-3", post(invoke, `b'{"query": "x"}'`, `{${ownHeaders}}`)),
  extraRequest(
    "JSON declared as text",
    "CLI-3",
    post(invoke, `b'{"query": "x"}'`, `{${ownHeaders}, "Content-Type": "text/plain"}`),
  ),
  wrongRequest("any response accepted", "CLI-4", '"Accept": accept', '"Accept": "*/*"'),
  extraRequest("a form instead of JSON", "CLI-5", post(invoke, 'b"query=x"')),
  extraRequest("a dictionary of Python instead of JSON", "CLI-5", post(invoke, 'str({"query": "x"}).encode()')),
  extraRequest("another name for the query", "CLI-6", post(invoke, `b'{"prompt": "x"}'`)),
  extraRequest("a list of queries", "CLI-6", post(invoke, `b'{"query": ["x"]}'`)),
  extraRequest("a temperature above 2", "CLI-7", post(invoke, `b'{"query": "x", "parameters": {"temperature": 2.1}}'`)),
  extraRequest("a number as text", "CLI-7", post(invoke, `b'{"query": "x", "parameters": {"max_tokens": "100"}}'`)),
  extraRequest("a page by its name", "CLI-8", get("/agents?page=first&limit=50", `{${ownHeaders}}`)),
  wrongRequest("no limit of a page", "CLI-9", "&limit=50", ""),
  wrongSignature(
    "a signature in upper case",
    "CLI-10",
    '"X-Signature": headers("GET", "/v1/usage", b"", "")["X-Signature"].upper()',
  ),
  wrongSignature(
    "a signature of another path",
    "CLI-10",
    '"X-Signature": headers("GET", "/usage", b"", "")["X-Signature"]',
  ),
  extraRequest(
    "a timestamp in milliseconds",
    "CLI-11",
    get(
      "/usage",
      `{${ownHeaders}, "X-Timestamp": (at := str(int(time.time() * 1000))), "X-Signature": hmac.new(SECRET.encode(), f"GET\\n/v1/usage\\n{at}\\n".encode(), hashlib.sha256).hexdigest()}`,
    ),
  ),
  extraRequest(
    "one event as text",
    "CLI-23",
    post("/webhooks", `b'{"url": "https://a.example/", "events": "agent.*"}'`),
  ),
  extraRequest("a percentage as text", "CLI-23", post("/alerts", `b'{"type": "rate_limit", "threshold": "80"}'`)),
];

const wait429 = "time.sleep(retry_after(response))";
const wait5xx = "time.sleep(FIRST_WAIT * 2**attempt)";
const afterDone = "                response.close()\n                return text";
const loop = "for name, data in events(response):";
const broken = 'raise AgentError(f"the connection broke: {error}") from error';

const reactionMistakes: readonly ClientChange[] = [
  wrongReaction("a wait of its own after a 429", "CLI-12", [wait429, "time.sleep(0.2)"]),
  wrongReaction("half the wait after a 429", "CLI-12", [wait429, "time.sleep(retry_after(response) / 2)"]),
  wrongReaction("seconds taken for milliseconds", "CLI-12", [wait429, "time.sleep(retry_after(response) / 1000)"]),
  wrongReaction("no retry of a 5xx", "CLI-13", ["elif response.status_code >= 500:", "elif False:"]),
  wrongReaction("equal waits", "CLI-14", [wait5xx, "time.sleep(0.3)"]),
  wrongReaction("retries at once", "CLI-14", [wait5xx, "pass"]),
  wrongReaction(
    "retries without end",
    "CLI-15",
    ["MAX_ATTEMPTS = 5", "MAX_ATTEMPTS = 1000"],
    [wait5xx, "time.sleep(min(FIRST_WAIT * 1.5**attempt, 0.35))"],
  ),
  wrongReaction("a repeat after a lost connection", "CLI-16", [broken, "continue"]),
  wrongReaction("a repeat after any end of a stream", "CLI-16", [
    'raise AgentError(f"the stream failed: {error}")',
    "continue",
  ]),
  wrongReaction("no wait after an overload", "CLI-17", ['time.sleep(error["retry_after"])', "pass"]),
  wrongReaction(
    "streams that stay open",
    "CLI-18",
    [loop, "for name, data in events.__dict__.setdefault(query, events(response)):"],
    [afterDone, "                return text"],
  ),
  wrongReaction("the first page only", "CLI-19", ["while page <= pages:", "while page <= 1:"]),
  wrongReaction("a short page taken for the last", "CLI-19", [
    'pages = answer["pagination"]["pages"]',
    'pages = page + 1 if len(answer["data"]) == 50 else page',
  ]),
];

export const pythonMistakes: readonly ClientChange[] = [...requestMistakes, ...reactionMistakes];

const main = "    for step in steps:\n        try:\n            step()\n";

export const legalPythonClients: readonly ClientChange[] = [
  legalClient(
    "header names in lower case",
    ['"Authorization"', '"authorization"'],
    ['"Content-Type"', '"content-type"'],
  ),
  legalClient("a charset after the type", [
    '"application/json"\n    if SECRET',
    '"application/json; charset=utf-8"\n    if SECRET',
  ]),
  legalClient("indented JSON", ["json.dumps(body).encode()", "json.dumps(body, indent=2).encode()"]),
  legalClient("the smallest temperature", [
    '"temperature": 0.5, "max_tokens": 100',
    '"temperature": 0, "max_tokens": 1',
  ]),
  legalClient("the largest temperature, and unknown parameters", [
    '"temperature": 0.5',
    '"temperature": 2.0, "top_k": [1]',
  ]),
  legalClient("no signatures", ["if SECRET:", "if False:"]),
  legalClient("signatures of the path without the query", [
    'signed = f"{method}\\n{path}\\n',
    "signed = f\"{method}\\n{path.split('?')[0]}\\n",
  ]),
  legalClient("giving up after a 429", [wait429, "break"]),
  legalClient("longer waits after a 429", [wait429, "time.sleep(retry_after(response) + 0.5)"]),
  legalClient("a first retry at once", [wait5xx, "time.sleep(FIRST_WAIT * 2**attempt if attempt else 0)"]),
  legalClient("random waits", [wait5xx, 'time.sleep(__import__("random").uniform(0.03, FIRST_WAIT * 2**attempt))']),
  legalClient(
    "retries of GET alone",
    ["elif response.status_code >= 500:", 'elif response.status_code >= 500 and method == "GET":'],
    ['lambda: call("GET", "/usage")', '*[lambda at=at: call("GET", f"/usage?{at}") for at in range(6)]'],
  ),
  legalClient(
    "streams read to the end of the connection",
    [afterDone, "                pass"],
    [
      "        if error is None or",
      "        if error is None and text:\n            return text\n        if error is None or",
    ],
  ),
  legalClient("streams closed after the first piece", [
    '                text += json.loads(data)["content"]',
    "                response.close()\n                return text",
  ]),
  legalClient(
    "requests at once",
    [
      main,
      "    from concurrent.futures import ThreadPoolExecutor\n    for step in ThreadPoolExecutor(6).map(lambda one: guarded(one), steps):\n        try:\n            step()\n",
    ],
    [
      "def main():",
      "def guarded(step):\n    try:\n        step()\n    except AgentError as error:\n        print(error)\n    return lambda: None\n\n\ndef main():",
    ],
  ),
  legalClient("a session of its own for each request", ['"session_id": "s-1"', '"session_id": os.urandom(8).hex()']),
  legalClient("equal requests, several times", ['f"question {at}"', '"question"'], ['f"story {at}"', '"story"']),
];

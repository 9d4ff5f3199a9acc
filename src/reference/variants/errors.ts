import type { Behaviour } from "../behaviour/behaviour.ts";
import { bothForms, formA, formB } from "../behaviour/forms.ts";
import { without } from "../edit.ts";
import { variants } from "../patch.ts";
import type { Cause } from "../trouble.ts";

type Change = (base: Behaviour) => Partial<Behaviour>;

/** Gives causes another status and code. */
function answered(causes: readonly Cause[], status: number, code: string): Change {
  return (base) => ({
    errorStatus: (cause, operation) => (causes.includes(cause) ? status : base.errorStatus(cause, operation)),
    errorCode: (cause, operation) => (causes.includes(cause) ? code : base.errorCode(cause, operation)),
  });
}

export const errorVariants = variants("Errors", {
  "form-b": ["Errors have form B.", () => ({ errorBody: formB })],
  "form-b-without-empty-details": [
    "Errors have form B; where there are no details, `details` is left out.",
    () => ({
      errorBody: (facts) => (facts.detail.kind === "none" ? without(formB(facts), "error.details") : formB(facts)),
    }),
  ],
  "both-forms": ["Errors have the fields of both forms.", () => ({ errorBody: bothForms })],
  "forms-by-endpoint": [
    "Errors of invoke and stream have form A, all others form B.",
    () => ({
      errorBody: (facts) =>
        facts.operation === "invoke" || facts.operation === "stream" ? formA(facts) : formB(facts),
    }),
  ],
  "code-rate-limited": [
    "A 429 has the code RATE_LIMITED.",
    answered(["request-limit", "concurrency-limit", "token-quota", "address-limit"], 429, "RATE_LIMITED"),
  ],
  "concurrency-code-rate-limited": [
    "A 429 for concurrency has the code RATE_LIMITED, others have RATE_LIMIT_EXCEEDED.",
    answered(["concurrency-limit"], 429, "RATE_LIMITED"),
  ],
  "retry-after-header": [
    "A 429 has a `Retry-After` header.",
    () => ({ retryAfterHeader: (seconds) => String(seconds) }),
  ],
  "unknown-path-html": [
    "A path that is not defined answers 404 with a page of HTML.",
    () => ({
      unknownPathPage: () => ({ contentType: "text/html", text: "<!doctype html><title>404</title><p>Not found" }),
    }),
  ],
  "unknown-method-405": [
    "A method that is not defined answers 405.",
    answered(["unknown-method"], 405, "METHOD_NOT_ALLOWED"),
  ],
  "crash-other-code": ["A crash has the code AGENT_FAILED.", answered(["crash"], 500, "AGENT_FAILED")],
  "timeout-504": ["An agent that times out answers 504.", answered(["timeout"], 504, "GATEWAY_TIMEOUT")],
  "too-large-400": ["A body that is too large answers 400.", answered(["too-large"], 400, "INVALID_INPUT")],
  "malformed-json-other-code": [
    "A body that is no JSON has the code MALFORMED_JSON.",
    answered(["malformed-json"], 400, "MALFORMED_JSON"),
  ],
});

export const authenticationVariants = variants("Authentication", {
  "missing-key-other-code": [
    "A missing key has the code MISSING_API_KEY.",
    answered(["missing-key", "malformed-key"], 401, "MISSING_API_KEY"),
  ],
  "scheme-as-written": [
    "The scheme must be written `Bearer`.",
    (base) => ({
      credentials: (authorization) => {
        const given = base.credentials(authorization);
        return given.kind === "bearer" && given.scheme !== "Bearer" ? { kind: "malformed" } : given;
      },
    }),
  ],
  "keys-of-another-prefix": ["Keys begin with `zq_`.", () => ({ keyText: (text) => text.replace(/^.._/, "zq_") })],
  "forbidden-401": ["A key that lacks permission answers 401.", answered(["forbidden"], 401, "INSUFFICIENT_SCOPE")],
  "forbidden-404": [
    "A key that lacks permission answers as if there were nothing.",
    answered(["forbidden"], 404, "AGENT_NOT_FOUND"),
  ],
  "signature-ignored": ["Signatures are not looked at.", () => ({ acceptsSignature: () => true })],
  "signature-of-path-only": [
    "The signed path has no query string.",
    (base) => ({
      signedBytes: (request) => base.signedBytes({ ...request, path: request.path.replace(/\?.*$/s, "") }),
    }),
  ],
  "bad-signature-400": ["A bad signature answers 400.", answered(["bad-signature"], 400, "BAD_SIGNATURE")],
  "bad-signature-403": ["A bad signature answers 403.", answered(["bad-signature"], 403, "INVALID_SIGNATURE")],
});

import { bothForms, detailsOf, formA, formB } from "../behaviour/errors.ts";
import { setField, removeField } from "../json-edit.ts";
import {
  editFormB,
  overrideError,
  overrideErrorStatus,
  overrideJson,
  overrideResult,
  variant,
  variants,
} from "../patch.ts";

const errorEndpointVariants = variants("Errors", {
  "form-b": variant("Errors have form B.").by(() => ({ errorBody: formB })),
  "form-b-without-empty-details": variant("Errors have form B; without details, `details` is missing.").by(
    editFormB((body, { detail }) => (detail.kind === "none" ? removeField(body, "error.details") : body)),
  ),
  "both-forms": variant("Errors have the fields of both forms.").by(() => ({ errorBody: bothForms })),
  "forms-by-endpoint": variant("Errors of invoke and stream have form A, all others form B.").by(() => ({
    errorBody: (facts) => (facts.endpoint === "invoke" || facts.endpoint === "stream" ? formA(facts) : formB(facts)),
  })),
  "code-rate-limited": variant("A 429 has the code RATE_LIMITED.").by(
    overrideError(["request-limit", "concurrency-limit", "token-quota", "address-limit"], 429, "RATE_LIMITED"),
  ),
  "concurrency-code-rate-limited": variant(
    "A 429 for concurrency has the code RATE_LIMITED, others have RATE_LIMIT_EXCEEDED.",
  ).by(overrideError(["concurrency-limit"], 429, "RATE_LIMITED")),
  "retry-after-header": variant("A 429 has a `Retry-After` header.").by(() => ({
    retryAfterHeader: (seconds) => String(seconds),
  })),
  "unknown-path-html": variant("A path that is not defined responds with 404 with a page of HTML.").by(() => ({
    unknownPathPage: () => ({ contentType: "text/html", text: "<!doctype html><title>404</title><p>Not found" }),
  })),
  "unknown-method-405": variant("A method that is not defined responds with 405.").by(
    overrideError(["unknown-method"], 405, "METHOD_NOT_ALLOWED"),
  ),
  "crash-other-code": variant("A crash has the code AGENT_FAILED.").by(overrideError(["crash"], 500, "AGENT_FAILED")),
  "timeout-504": variant("An agent that times out responds with 504.").by(
    overrideError(["timeout"], 504, "GATEWAY_TIMEOUT"),
  ),
  "too-large-400": variant("A body that is too large responds with 400.").by(
    overrideError(["too-large"], 400, "INVALID_INPUT"),
  ),
  "malformed-json-other-code": variant("A body that is no JSON has the code MALFORMED_JSON.").by(
    overrideError(["malformed-json"], 400, "MALFORMED_JSON"),
  ),
  "invoke-errors-waver": variant("Errors of invoke have form A and form B by turns.").by((base) => {
    let count = 0;
    return overrideJson("errorBody")((body, input) =>
      input.endpoint !== "invoke" || (count += 1) % 2 === 1 ? body : formB(input),
    )(base);
  }),
  "crash-answers-502": variant("An agent that fails responds with 502.").by(overrideErrorStatus(["crash"], 502)),
  "crash-answers-503": variant("An agent that fails responds with 503.").by(overrideErrorStatus(["crash"], 503)),
  "gateway-in-form-b": variant("A gateway refuses keys in form B, and the application responds in form A.").by(() => ({
    errorBody: (facts) => (facts.status === 401 ? formB(facts) : formA(facts)),
  })),
  "gateway-in-form-a": variant(
    "A gateway refuses keys and limits in form A, and the application responds in form B.",
  ).by(() => ({ errorBody: (facts) => (facts.status === 401 || facts.status === 429 ? formA(facts) : formB(facts)) })),
  "form-a-with-details": variant("Errors have form A, with their details added.").by(() => ({
    errorBody: (facts) => setField(formA(facts), "error.details", detailsOf(facts.detail)),
  })),
  "form-b-with-status": variant("Errors have form B, and their status in it.").by(
    editFormB((body, { status }) => setField(body, "error.status", status)),
  ),
  "form-b-details-null": variant("Errors have form B; where there are no details, `details` is `null`.").by(
    editFormB((body, { detail }) => (detail.kind === "none" ? setField(body, "error.details", null) : body)),
  ),
  "details-of-several-fields": variant("Errors have form B, and their details list each field.").by(
    editFormB((body, { detail }) =>
      detail.kind === "field" ? setField(body, "error.details", { errors: [detailsOf(detail)] }) : body,
    ),
  ),
});

const authenticationVariants = variants("Authentication", {
  "missing-key-other-code": variant("A missing key has the code MISSING_API_KEY.").by(
    overrideError(["missing-key", "malformed-key"], 401, "MISSING_API_KEY"),
  ),
  "scheme-as-written": variant("The scheme must be written `Bearer`.").by(
    overrideResult("credentials")((given) =>
      given.kind === "bearer" && given.scheme !== "Bearer" ? { kind: "malformed" } : given,
    ),
  ),
  "keys-of-another-prefix": variant("Keys begin with `zq_`.").by(() => ({
    keyText: (text) => text.replace(/^.._/, "zq_"),
  })),
  "keys-of-one-letter-case": variant("Keys have lower-case letters and digits only.").by(() => ({
    keyText: (text) => text.toLowerCase(),
  })),
  "keys-in-any-letter-case": variant("Keys are lower-case, and are compared in any letter case, as hexadecimal is.").by(
    (base) => ({
      keyText: (text) => text.toLowerCase(),
      identify: (credentials, ring, nowMs, endpoint) =>
        base.identify(
          credentials.kind === "bearer" ? { ...credentials, text: credentials.text.toLowerCase() } : credentials,
          ring,
          nowMs,
          endpoint,
        ),
    }),
    ["AUTH-17"],
  ),
  "forbidden-401": variant("A key that lacks permission responds with 401.").by(
    overrideError(["forbidden"], 401, "INSUFFICIENT_SCOPE"),
  ),
  "forbidden-404": variant("A key that lacks permission gets the 404 of an unknown agent.").by(
    overrideError(["forbidden"], 404, "AGENT_NOT_FOUND"),
  ),
  "signature-ignored": variant("Signatures are not checked.").by((base) => ({
    acceptsSignature: () => true,
    // Changes nothing. Because both variants replace `signedBytes`, the selftest never combines this one with
    // `signature-of-path-only`: ignored signatures would hide its effect.
    signedBytes: (request) => base.signedBytes(request),
  })),
  "signature-of-path-only": variant("The signed path has no query string.").by((base) => ({
    signedBytes: (request) => base.signedBytes({ ...request, path: request.path.replace(/\?.*$/s, "") }),
  })),
  "bad-signature-400": variant("A bad signature responds with 400.").by(
    overrideError(["bad-signature"], 400, "BAD_SIGNATURE"),
  ),
  "bad-signature-403": variant("A bad signature responds with 403.").by(
    overrideError(["bad-signature"], 403, "INVALID_SIGNATURE"),
  ),
  "unknown-agent-before-key": variant("An agent that does not exist gets 404 even without a valid key.").by(() => ({
    authenticatesFirst: (namesUnknownAgent) => !namesUnknownAgent,
  })),
});

export const errorVariants = [...errorEndpointVariants, ...authenticationVariants];

import { isObject } from "../../base/json.ts";
import { overrideJson, overrideSuccessStatus, withKeyTraits } from "../overrides.ts";
import { setField } from "../json-edit.ts";
import { variant, variants } from "../patch.ts";
import { wrapAsData } from "./bodies.ts";

const otherStatus: Readonly<Record<string, string>> = {
  running: "in_progress",
  completed: "succeeded",
  failed: "error",
};

export const operationVariants = variants("Endpoints / 10. Check an asynchronous operation", {
  "batch-accepted-202": variant("A batch responds with 202.").by(overrideSuccessStatus("batch", 202)),
  "batch-200": variant("A batch responds with 200.").by(overrideSuccessStatus("batch", 200)),
  "handle-envelope": variant("The handle of an operation is in the envelope, as `data`.").by(
    overrideJson("handleBody")(wrapAsData),
  ),
  "handle-with-more": variant("The handle of an operation has more fields.").by((base) => ({
    handleBody: (operation) => base.operationBody(operation),
  })),
  "operation-envelope": variant("The response of `check_url` is in the envelope, as `data`.").by(
    overrideJson("operationBody")(wrapAsData),
  ),
  "operation-of-other-words": variant("After `pending` an operation is `in_progress`, `succeeded` or `error`.").by(
    overrideJson("operationBody")((body, { status }) => setField(body, "status", otherStatus[status] ?? status)),
  ),
  "operation-without-results": variant("The response of `check_url` never has results.").by(
    overrideJson("operationBody").remove("results"),
  ),
  "operation-done-at-once": variant("An operation is done with as soon as anybody can look at it.").by(() => ({
    pendingMs: () => 0,
    entryMs: () => 0,
  })),
  "operation-ids-of-uuid": variant("Operations have UUIDs.").by(() => ({
    operationId: (number) => `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`,
  })),
  "slow-operations": variant("Each entry of a batch takes four seconds.").by(() => ({
    pendingMs: () => 2000,
    entryMs: () => 4000,
  })),
});

export const detailsVariants = variants("Endpoints / 12. Other endpoints", {
  "no-execution-path": variant("There is no local execution path.").by(() => ({
    servedPath: (path) => path.replace(/^\/api\/v1\/agents\//, "/api/v1/nothing/"),
  })),
  "execution-path-bare-result": variant("The local execution path returns the bare result.").by((base) => ({
    jsonText: (value, facts) =>
      base.jsonText(
        facts.endpoint === "execute" && isObject(value) && "result" in value ? value["result"] : value,
        facts,
      ),
  })),
  "no-agent-description": variant("There is no detailed information about an agent.").by(() => ({
    servedPath: (path) => path.replace(/^\/v1\/agents\/([^/?]+)(?=\?|$)/, "/v1/agents/$1/nothing"),
  })),
  "agent-description-envelope": variant("The details of an agent are in the envelope, as `data`.").by(
    overrideJson("agentDetailsBody")(wrapAsData),
  ),
  "agent-description-short": variant("Detailed information about an agent is what the list has.").by(() => ({
    agentDetailsBody: ({ listItem }) => listItem,
  })),
});

export const keyVariants = variants("Endpoints / 9. Read key usage", {
  "key-usage-envelope": variant("Key usage is in the envelope, as `data`.").by(
    overrideJson("keyUsageBody")(wrapAsData),
  ),
  "key-usage-as-usage": variant("Key usage has the body of usage.").by((base) => ({
    keyUsageBody: (facts) => base.usageBody(facts),
  })),
  "key-usage-as-list": variant("Key usage is a list of the keys, with this one in it.").by(() => ({
    keyUsageBody: ({ key, hour, tokens }) => ({
      keys: [{ key_name: key.name, request_count: hour.limit - hour.remaining, token_count: tokens.used }],
    }),
  })),
  "reader-may-invoke": variant("A read-only key may invoke and stream, for that changes nothing.").by(
    withKeyTraits(["invoke", "stream"], { scope: "full" }),
  ),
  "reader-may-batch": variant("A read-only key may run agents.").by(
    withKeyTraits(["invoke", "stream", "batch"], { scope: "full" }),
  ),
});

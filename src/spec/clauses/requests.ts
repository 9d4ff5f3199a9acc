import { gap, must, type ClauseTable } from "../clause.ts";

const section = "Endpoints / Common request rules";

export const requestClauses = {
  "REQ-1": must(section, "The cloud address is served over HTTPS.", {
    readings: {
      https: "the address is served over HTTPS",
      local: "a local address, of which the document does not ask it",
    },
  }),
  "REQ-2": must(section, "Every endpoint requires the header `Authorization: Bearer <API_KEY>`."),
  "REQ-3": must(section, "A request body is sent as `application/json`, and is accepted as such."),
  "REQ-4": must(
    section,
    "`Accept: application/json` is answered with JSON, and on the stream endpoint `text/event-stream` with an event stream.",
  ),
  "REQ-5": must(section, "A POST with a JSON body is accepted, whatever its white space and key order."),
  "REQ-6": gap(section, "What happens to a body that is not JSON, or is declared as another type, is not shown."),
  "REQ-7": must(
    section,
    "An endpoint answers in one of the two published shapes: its fields at the top level, or the envelope.",
    {
      readings: {
        "top-level": "the endpoint's own fields stand at the top level",
        envelope: "the fields stand in `data` (or `data.result`) of `{status, data}`",
      },
    },
  ),
  "REQ-8": must(
    section,
    "In the envelope, `status` is `success` or `error`, `data.metadata.execution_time` is a number and `tokens_used` an integer.",
    {
      readings: {
        absent: "no endpoint answers with the envelope",
        envelope: "the envelope is used, with its fields as published",
      },
    },
  ),
  "REQ-10": gap(
    section,
    "Whether a body type that is written with a parameter, such as `; charset=utf-8`, is accepted is not shown.",
  ),
  "REQ-9": gap(section, "Which endpoints other than invoke and health use which response shape is not shown."),
} as const satisfies ClauseTable;

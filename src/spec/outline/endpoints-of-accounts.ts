import { type Section, stated } from "./item.ts";

/** Endpoints, from usage to batch submission. */
export const accountEndpointSections: readonly Section[] = [
  {
    heading: "Endpoints / 5. Read usage",
    items: [
      stated("text", "method and path; no parameters", "USE-1"),
      stated("text", "a usage report", "USE-2", "USE-3", "USE-4"),
    ],
  },
  {
    heading: "Endpoints / 6. Create a webhook",
    items: [
      stated("text", "method and path", "WHK-1"),
      stated("url", "URL of the receiver", "WHK-1", "WHK-2", "WHK-5", "WHK-6"),
      stated("events", "array of event types", "WHK-1", "WHK-2", "WHK-5", "WHK-6"),
      stated("agent_id", "the agent that it is tied to", "WHK-1", "WHK-3", "WHK-6"),
      stated("secret", "what deliveries are signed with", "WHK-1", "WHK-6", "HOOK-21", "HOOK-34"),
      stated("text", "not shown: the response", "WHK-4"),
    ],
  },
  {
    heading: "Endpoints / 7. List webhook deliveries",
    items: [
      stated("text", "method and path", "WHK-7"),
      stated("text", "not shown: query parameters and response", "WHK-8"),
    ],
  },
  {
    heading: "Endpoints / 8. Create a usage alert",
    items: [
      stated("text", "method and path", "ALR-1"),
      stated("type", "string", "ALR-1", "ALR-5"),
      stated("type", "example: `rate_limit`", "ALR-1"),
      stated("threshold", "percentage", "ALR-1", "ALR-3", "ALR-5"),
      stated("webhook_url", "URL", "ALR-1", "ALR-3", "ALR-4"),
      stated("text", "not shown: the response", "ALR-2"),
    ],
  },
  {
    heading: "Endpoints / 9. Read key usage",
    items: [stated("text", "method and path", "KEY-9"), stated("text", "not shown: parameters and response", "KEY-10")],
  },
  {
    heading: "Endpoints / 10. Check an asynchronous operation",
    items: [
      stated("text", "long-running work returns at once with a handle", "OPS-1", "OPS-6"),
      stated("text", "the path in `check_url`", "OPS-3"),
      stated("text", "not shown: its method and response", "OPS-4"),
    ],
  },
  {
    heading: "Endpoints / 11. Batch submission",
    items: [
      stated("batch", "array of bodies as of invoke", "BAT-1", "BAT-3"),
      stated("text", "not shown: the path", "BAT-2"),
    ],
  },
  {
    heading: "Endpoints / 12. Other endpoints",
    items: [
      stated("local execution", "not shown: exact path and payload", "OTH-1"),
      stated("agent information", "not shown: path and shape", "OTH-2"),
    ],
  },
];

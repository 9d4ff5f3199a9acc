import { type Section, stated, withoutClause } from "./item.ts";

export const serviceSections: readonly Section[] = [
  {
    heading: "Agent Hosting Service Interface",
    items: [withoutClause("text", "what the document covers", "An introduction: it states nothing of a server.")],
  },
  {
    heading: "What the service does",
    items: [
      stated("1", "agents are deployed", "SVC-9"),
      stated("1", "clients call agents over HTTPS", "REQ-1"),
      stated("1", "bodies are JSON", "SVC-1", "INV-22"),
      stated("1", "streaming is Server-Sent Events", "SVC-2", "SSE-30"),
      withoutClause("2", "the cloud address", "A placeholder: the document leaves the address out."),
      stated("2", "every path starts with `/v1`", "SVC-3", "VER-1"),
      stated("2", "the base address ends in `/v1`; a client sends it once", "SVC-3", "SVC-4"),
      stated("2", "a local development server", "SVC-5", "REQ-1"),
      stated("3", "all capabilities", "SVC-6"),
      stated("3", "synchronous invocation", "INV-1"),
      stated("3", "streamed invocation", "SSE-1"),
      stated("3", "health check", "HLT-1"),
      stated("3", "paginated listing", "LST-1"),
      stated("3", "usage reading", "USE-1"),
      stated("3", "webhook registration and delivery", "WHK-1", "HOOK-15"),
      stated("3", "usage alerts", "ALR-1"),
      stated("3", "key-usage reading", "KEY-9"),
      stated("3", "long-running operations", "OPS-1"),
      stated("3", "batch submission", "BAT-1"),
      stated("4", "a configuration file defines an agent and lists entrypoints", "SVC-7"),
      stated("4", "an entrypoint is a function with a tag", "SVC-7", "CFG-11"),
      stated("4", "a tag in `_stream` marks a streaming entrypoint", "CFG-12"),
      stated("5", "an agent runs locally or in the cloud", "SVC-8"),
      stated("5", "default of `auth_settings.type`", "CFG-7"),
      stated("6", "not shown: creating, deploying, updating, deleting agents over HTTP", "SVC-9"),
    ],
  },
];

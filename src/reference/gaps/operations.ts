import type { Gap } from "./gap.ts";

/** What this server does about keys, batches, operations, entrypoints and agent files, where the document leaves it open. */
export const operationGaps: readonly Gap[] = [
  {
    clauses: [],
    open: "The client's address behind proxies",
    chosen:
      "the peer's; with `--trust-proxy` the last one of `Forwarded`, or else `X-Forwarded-For`, that is no trusted proxy's",
    otherwise: [],
  },
  {
    clauses: ["KEY-10", "KEY-11"],
    open: "Parameters and answer of key usage; what is known of a key",
    chosen:
      "no parameters; `key` (`name`, `tier`, `scope`, `agents`, `allowed_ips`, `expires_at`; never its text), `period`, `requests` of the hour, `tokens` of the month, `last_used` before this request",
    otherwise: ["key-usage-envelope", "key-usage-as-usage", "key-usage-as-list", "key-usage-not-counted"],
  },
  {
    clauses: ["BAT-2", "BAT-3", "OPS-6"],
    open: "Where a batch goes, what it answers, and what starts an operation",
    chosen:
      "`POST /v1/agents/{agent_id}/batch`, 1 to 100 entries; 201 with an operation handle; a batch, and nothing else, starts an operation; it counts as one request, its entries take no slots and spend their tokens",
    otherwise: ["batch-200", "batch-accepted-202", "handle-envelope", "handle-with-more", "operation-ids-of-uuid"],
  },
  {
    clauses: ["OPS-4"],
    open: "Method and answer of `check_url`",
    chosen:
      "GET; the handle's fields with `agent_id`, the times, `progress`, and at the end `results` in the order of the batch; 404 `OPERATION_NOT_FOUND` for another key's",
    otherwise: ["operation-envelope", "operation-without-results"],
  },
  {
    clauses: ["OPS-5"],
    open: "States of an operation after `pending`",
    chosen: "`running`, then `completed`, or `failed` where every entry failed",
    otherwise: ["operation-of-other-words", "operation-done-at-once", "slow-operations"],
  },
  {
    clauses: ["OTH-1"],
    open: "The local execution path",
    chosen:
      "`POST /api/v1/agents/{agent_id}/execute/{entrypoint_tag}`, with body and answer of invoke, or of stream where the tag ends in `_stream`; with a key like everything else; 404 `ENTRYPOINT_NOT_FOUND`, also where an agent has no entrypoint for invoke or stream",
    otherwise: ["no-execution-path", "execution-path-bare-result"],
  },
  {
    clauses: ["OTH-2", "OTH-3", "OTH-4"],
    open: "Detailed information about an agent, its lifecycle and its deployment",
    chosen:
      "`GET /v1/agents/{agent_id}`: the list's fields, `lifecycle` (always `ready`), `created_at`, `entrypoints`, `deployment` (`deployment_id`, `timeout` in seconds, `memory`)",
    otherwise: ["no-agent-description", "agent-description-envelope", "agent-description-short"],
  },
  {
    clauses: [],
    open: "What the entrypoints of an agent configuration file do",
    chosen:
      "they echo, and say which one ran: invoke runs the first that does not stream, stream the first that does; an absent `agent_id` is made of the agent's name; configured webhooks have no secret and are not signed",
    otherwise: [],
  },
];

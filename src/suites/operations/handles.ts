import { formatValue } from "../../base/format-value.ts";
import type { Exchange } from "../../evidence/exchange.ts";
import type { Mismatch } from "../../rules/mismatch.ts";
import { hasStatus } from "../shared/response.ts";
import { checkUrlsOf, handleOf, type OperationHandle } from "./probes.ts";

export function isHandle(exchange: Exchange): boolean {
  const { operationId, status, checkUrl } = handleOf(exchange);
  return operationId !== undefined || checkUrl !== undefined || status === "pending" || hasStatus(exchange, 202);
}

export const handleClauses = ["OPS-1", "OPS-2", "OPS-3"] as const;
export type HandleClause = (typeof handleClauses)[number];

export const handleRules: Readonly<
  Record<HandleClause, (handle: OperationHandle, exchange: Exchange) => Mismatch | null | undefined>
> = {
  "OPS-1": ({ operationId }) =>
    typeof operationId === "string" ? null : { expected: "`operation_id`, a string", actual: formatValue(operationId) },
  "OPS-2": ({ status }) =>
    status === "pending" ? null : { expected: "`status` is `pending`", actual: formatValue(status) },
  "OPS-3": ({ operationId, checkUrl }, exchange) => {
    if (typeof operationId !== "string") return undefined;
    return checkUrlsOf(exchange, operationId).some((each) => each === checkUrl)
      ? null
      : { expected: `\`check_url\` is ${formatValue(`/v1/operations/${operationId}`)}`, actual: formatValue(checkUrl) };
  },
};

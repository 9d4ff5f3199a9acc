/** How far an operation is. Source: Resources, "Operation handle"; beyond `pending` the document shows none. */
export type OperationStatus = "pending" | "running" | "completed" | "failed";

/** How an entry of a batch ended: with an invoke's body, or with an error. */
export type EntryResult =
  | { readonly kind: "success"; readonly index: number; readonly body: unknown }
  | { readonly kind: "error"; readonly index: number; readonly code: string; readonly message: string };

/** Work that goes on after its request was answered. Instants are Unix milliseconds. */
export interface AsyncOperation {
  readonly id: string;
  /** Account that may look at it. */
  readonly owner: string;
  readonly agentId: string;
  readonly status: OperationStatus;
  readonly createdMs: number;
  readonly startedMs: number | null;
  readonly endedMs: number | null;
  /** Entries it has to do. */
  readonly total: number;
  readonly results: readonly EntryResult[];
}

/** The operations of a server. */
export interface OperationBook {
  put(operation: AsyncOperation): void;
  find(id: string): AsyncOperation | undefined;
}

/** Operations that are remembered; beyond that the oldest is forgotten. */
const mostOperations = 10_000;

export function operationBook(): OperationBook {
  const byId = new Map<string, AsyncOperation>();
  return {
    put: (operation) => {
      byId.set(operation.id, operation);
      const [oldest] = byId.keys();
      if (byId.size > mostOperations && oldest !== undefined) byId.delete(oldest);
    },
    find: (id) => byId.get(id),
  };
}

import type { Agent } from "../agents.ts";
import { eventTypeByStage, type ExecutionStage } from "../behaviour/webhooks.ts";
import type { RequestContext } from "./admission.ts";
import type { ServerState } from "./state.ts";
import type { Execution } from "./execution.ts";

/** Tells webhooks of one execution, stage by stage. */
export interface ExecutionEvents {
  readonly requestId: string;
  /** Tells how the turn has ended. */
  ended(turn: Execution): void;
  /** Tells, where anything is told of that, that the client left before the end. */
  disconnected(): void;
}

/** Tells that an execution starts. Nothing here takes time, and what webhooks do with it holds up nobody. */
export function emitExecutionStart(
  state: ServerState,
  context: RequestContext,
  agent: Agent,
  input: unknown,
): ExecutionEvents {
  const { behaviour, clock, outbox } = state;
  const requestId = behaviour.requestId(state.nextRequestNumber());
  const tell = (stage: ExecutionStage) =>
    outbox.emit({
      type: eventTypeByStage[stage.kind],
      agentId: agent.id,
      deploymentId: agent.deployment.id,
      data: behaviour.executionEventData({ requestId, input, stage }),
    });
  tell({ kind: "invoked" });
  return {
    requestId,
    ended: (turn) => tell(stageOf(turn, clock.now() - context.arrivedMs)),
    disconnected: () => {
      if (behaviour.disconnectEvent() === null) return;
      tell({ kind: "failed", message: "The stream was stopped.", details: "The client left before its end." });
    },
  };
}

function stageOf({ agent, text, usage, timesOut, processingMs }: Execution, elapsedMs: number): ExecutionStage {
  if (timesOut) return { kind: "timeout", timeoutMs: processingMs };
  if (agent.failure.kind === "none") return { kind: "completed", text, usage, elapsedMs };
  const details = agent.failure.kind === "crash" ? "The agent crashed." : "The model is overloaded.";
  return { kind: "failed", message: "The agent failed to process the request.", details };
}

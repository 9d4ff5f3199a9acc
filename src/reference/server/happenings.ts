import type { Agent } from "../agents.ts";
import { eventOf, type TurnStage } from "../behaviour/webhooking.ts";
import type { Exchange } from "./exchange.ts";
import type { ServerState } from "./state.ts";
import type { Turn } from "./turn.ts";

/** Tells webhooks of one execution, stage by stage. */
export interface Happening {
  readonly requestId: string;
  /** Tells how the turn has ended. */
  ended(turn: Turn): void;
  /** Tells, where anything is told of that, that the client left before the end. */
  left(): void;
}

/** Tells that an execution starts. Nothing here takes time, and what webhooks do with it holds up nobody. */
export function beginTurn(state: ServerState, exchange: Exchange, agent: Agent, input: unknown): Happening {
  const { behaviour, clock, outbox } = state;
  const requestId = behaviour.requestId(state.nextRequestNumber());
  const tell = (stage: TurnStage) =>
    outbox.raise({
      type: eventOf[stage.kind],
      agentId: agent.id,
      deploymentId: agent.deployment.id,
      data: behaviour.turnEventData({ requestId, input, stage }),
    });
  tell({ kind: "invoked" });
  return {
    requestId,
    ended: (turn) => tell(stageOf(turn, clock.now() - exchange.arrivedMs)),
    left: () => {
      if (behaviour.eventOfLeaving() === null) return;
      tell({ kind: "failed", message: "The stream was stopped.", details: "The client left before its end." });
    },
  };
}

function stageOf({ agent, text, usage, timesOut, thinksMs }: Turn, elapsedMs: number): TurnStage {
  if (timesOut) return { kind: "timeout", timeoutMs: thinksMs };
  if (agent.failure.kind === "none") return { kind: "completed", text, usage, elapsedMs };
  const details = agent.failure.kind === "crash" ? "The agent crashed." : "The model is overloaded.";
  return { kind: "failed", message: "The agent failed to process the request.", details };
}

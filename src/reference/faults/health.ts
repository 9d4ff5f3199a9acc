import { hourMs } from "../../base/duration.ts";
import { isoTime, removeField, setField } from "../json-edit.ts";
import { fixedWindow, hideUntilRefusal, overrideLimiter, windowsOf } from "../limits/windows.ts";
import {
  fault,
  faults,
  overrideByCount,
  overrideError,
  overrideErrorCode,
  overrideJson,
  overrideResult,
  overrideSuccessStatus,
  withLast,
} from "../patch.ts";

const healthBody = overrideJson("healthBody");
const requestCost = overrideResult("requestCost");
/** Health requests per minute under the fault `health-20-a-minute`, in tiers with at most 20 requests per minute. */
const healthLimit = 20;

const healthEndpointFaults = faults("Endpoints / 3. Health check", {
  "health-answers-203": fault("HLT-1", "Health responds with 203.").by(overrideSuccessStatus("health", 203)),
  "health-answers-201-at-times": fault("HLT-1", "Each third health report comes with 201.").by(
    overrideSuccessStatus("health", 201, 3),
  ),
  "health-status-ok": fault("HLT-2", "A healthy agent is `ok`.").by(
    healthBody.when(({ agent }) => agent.health === "healthy").set("status", "ok"),
  ),
  "checks-is-array": fault("HLT-3", "`checks` is an array.").by(healthBody.change("checks", (old) => [old])),
  "checks-missing": fault("HLT-3", "`checks` is missing.").by(healthBody.remove("checks")),
  "response-time-is-text": fault("HLT-4", "`response_time_ms` is text.").by(
    healthBody.change("checks.agent.response_time_ms", (ms) => `${String(ms)} ms`),
  ),
  "dependencies-are-objects": fault("HLT-5", "A dependency's status is an object.").by(
    healthBody.change("checks.dependencies.store", (status) => ({ status })),
  ),
  "dependencies-are-array": fault("HLT-5", "The dependencies are an array.").by(
    healthBody.set("checks.dependencies", ["store", "model"]),
  ),
  "memory-is-text": fault("HLT-6", "`memory_usage_percent` is text.").by(
    healthBody.change("checks.resources.memory_usage_percent", (percent) => `${String(percent)}%`),
  ),
  "health-version-is-number": fault("HLT-7", "`version` is a number.").by(
    healthBody.change("version", (version) => Number.parseFloat(String(version))),
  ),
  "uptime-is-text": fault("HLT-8", "`uptime` is text.").by(healthBody.change("uptime", String)),
  "last-request-is-number": fault("HLT-9", "`last_request` is Unix seconds.").by(
    healthBody.set("last_request", 1_772_600_767),
  ),
  "last-request-in-local-time": fault(
    "HLT-9",
    "`last_request` is the time in a zone two hours ahead, and says that it is UTC.",
  ).by(healthBody.change("last_request", (time) => isoTime(Date.parse(String(time)) + 2 * hourMs))),
  "last-request-in-western-time": fault(
    "HLT-9",
    "`last_request` is the time in a zone five hours behind, and says that it is UTC.",
  ).by(healthBody.change("last_request", (time) => isoTime(Date.parse(String(time)) - 5 * hourMs))),
  "last-request-is-no-time": fault("HLT-9", "`last_request` is no ISO 8601 timestamp.").by(
    healthBody.set("last_request", "04/03/2026 5:06"),
  ),
  "warnings-is-text": fault("HLT-10", "`warnings` is text.").by(
    healthBody.change("warnings", (warnings) => JSON.stringify(warnings)),
  ),
  "warnings-of-all-is-text": fault(["HLT-10", "HLT-21"], "`warnings` of every agent is the text none.").by(
    healthBody.set("warnings", "none"),
  ),
  "warnings-are-objects": fault("HLT-10", "`warnings` are objects.").by(
    healthBody.change("warnings", () => [{ message: "slow" }]),
  ),
  "health-limited": fault("HLT-15", "Health is refused when the limits are used up.").by(
    overrideResult("isLimited")((is, endpoint) => is || endpoint === "health"),
  ),
  "health-refused-while-slots-are-held": fault("HLT-15", "Health is refused while all slots of the key are held.").by(
    withLast("isLimited", (last) => (base) => ({
      isLimited: (endpoint) => endpoint === "health" || base.isLimited(endpoint),
      takesSlot: (endpoint) => endpoint === "health" || base.takesSlot(endpoint),
      limiters: (limits) =>
        base
          .limiters(limits)
          .map((each) =>
            overrideLimiter(each, { hasRoom: (nowMs) => last()?.[0] === "health" || each.hasRoom(nowMs) }),
          ),
    })),
  ),
  "health-counts": fault("HLT-16", "Health uses up the allowance.").by(
    requestCost((cost, endpoint) => (endpoint === "health" ? 1 : cost)),
    ["HDR-12"],
  ),
  "unknown-agent-health-counts": fault("HLT-16", "Health of an agent that does not exist uses up the allowance.").by(
    requestCost((cost, endpoint, agent) => (endpoint === "health" && agent === "unknown" ? 1 : cost)),
    ["HDR-12"],
  ),
  "read-only-health-counts": fault("HLT-16", "Health uses up the allowance of read-only keys.").by(
    withLast("permits", (last) =>
      requestCost((cost, endpoint) => (endpoint === "health" && last()?.[0].scope === "read-only" ? 1 : cost)),
    ),
    ["HDR-12"],
  ),
  "health-20-a-minute": fault("HLT-15", "A key of a small tier may read health 20 times a minute.").by((base) => {
    let isHealth = false;
    return {
      isLimited: (endpoint) => {
        isHealth = endpoint === "health";
        return isHealth || base.isLimited(endpoint);
      },
      refusalWindow: (exhausted, advertised) => (isHealth ? advertised : base.refusalWindow(exhausted, advertised)),
      limiters: (limits) => {
        const own = base
          .limiters(limits)
          .map((each) => overrideLimiter(each, { hasRoom: (nowMs) => isHealth || each.hasRoom(nowMs) }));
        if (limits.perMinute > healthLimit) return own;
        const ofHealth = fixedWindow({ ...windowsOf(limits).minute, limit: healthLimit });
        const hasHealthRoom = (nowMs: number): boolean => {
          const hasRoom = ofHealth.hasRoom(nowMs);
          if (hasRoom) ofHealth.count(nowMs);
          return hasRoom;
        };
        return [
          ...own,
          overrideLimiter(hideUntilRefusal(ofHealth), {
            hasRoom: (nowMs) => !isHealth || hasHealthRoom(nowMs),
            count: () => {},
          }),
        ];
      },
    };
  }),
  "uptime-falls": fault("HLT-17", "`uptime` falls from call to call.").by(
    overrideByCount("healthBody")((body, count) => setField(body, "uptime", 1_000_000 - 5 * count)),
  ),
  "percent-above-100": fault("HLT-17", "A percentage is above 100.").by(
    healthBody.set("checks.resources.cpu_usage_percent", 140),
  ),
  "checks-of-other-names": fault("HLT-20", "None of the keys of `checks` is one of the three.").by(
    healthBody.change("checks", () => ({ self: { status: "healthy" }, network: { status: "healthy" } })),
  ),
  "uptime-in-milliseconds-at-times": fault("HLT-8", "Every third report has its `uptime` in milliseconds.").by(
    overrideByCount("healthBody")((body, count, { uptimeMs }) =>
      count % 3 === 0 ? setField(body, "uptime", uptimeMs) : body,
    ),
    ["HLT-17"],
  ),
  "uptime-stands-still": fault("HLT-22", "`uptime` is always the same.").by(healthBody.set("uptime", 86_400)),
  "last-request-stands-still": fault("HLT-22", "`last_request` is always the same.").by(
    healthBody.set("last_request", "2026-03-01T00:00:00Z"),
  ),
  "last-request-not-of-streams": fault("HLT-22", "A stream does not move `last_request`.").by(
    overrideResult("updatesLastRequest")((_, endpoint) => endpoint !== "stream"),
  ),
  "degraded-warnings-empty": fault("HLT-21", "The warnings of a degraded agent are an empty list.").by(
    healthBody.when(({ agent }) => agent.health === "degraded").set("warnings", []),
  ),
  "unknown-agent-health-other-code": fault("HLT-18", "Health of an unknown agent has the code NOT_FOUND.").by(
    overrideErrorCode(["agent-not-found"], "NOT_FOUND", "health"),
  ),
  "unknown-agent-health-400": fault("HLT-18", "Health of an unknown agent responds with 400.").by(
    overrideError(["agent-not-found"], 400, "UNKNOWN_AGENT", "health"),
  ),
});

const healthStateFaults = faults("States and transitions / Health status of an agent", {
  "degraded-says-unhealthy": fault("HLT-11", "A degraded agent is `unhealthy`, without warnings.").by(
    healthBody((body, { agent }) =>
      agent.health === "degraded" ? setField(removeField(body, "warnings"), "status", "unhealthy") : body,
    ),
  ),
  "unhealthy-says-degraded": fault("HLT-12", "An unhealthy agent is `degraded`, with a warning.").by(
    healthBody((body, { agent }) =>
      agent.health === "unhealthy" ? setField(setField(body, "status", "degraded"), "warnings", ["store fails"]) : body,
    ),
  ),
  "healthy-with-failed-check": fault("HLT-13", "A healthy agent's dependency is unhealthy.").by(
    healthBody.when(({ agent }) => agent.health === "healthy").set("checks.dependencies.store", "unhealthy"),
  ),
  "healthy-with-warnings": fault("HLT-21", "A healthy agent has warnings.").by(
    healthBody.when(({ agent }) => agent.health === "healthy").set("warnings", ["careful"]),
  ),
  "degraded-without-warnings": fault("HLT-14", "A degraded agent has no warnings.").by(healthBody.remove("warnings")),
  "degraded-warns-once": fault(
    "HLT-14",
    "A degraded agent has its warnings in its first report, and not in later ones.",
  ).by((base) => {
    let reportCount = 0;
    const isLater = () => (reportCount += 1) > 1;
    return healthBody.when(({ agent }) => agent.health === "degraded" && isLater()).remove("warnings")(base);
  }),
  "degraded-and-silent": fault("HLT-14", "The agent `echo` is degraded, and has no warnings.").by(
    healthBody.when(({ agent }) => agent.id === "echo").set("status", "degraded"),
  ),
});

export const healthFaults = [...healthEndpointFaults, ...healthStateFaults];

// Public exports of the package `agent-hosting-conformance`: functions, and the main types of their signatures.

export { judge, type Judged, type JudgeOptions, NothingToJudge, rejudge } from "./judge.ts";
export type { JudgeScope } from "./scope.ts";
export { judgeClient, type JudgeClientOptions, troubles } from "./client.ts";
export type { ClientVariables } from "../app/client/judge-client.ts";
export {
  judgeRecording,
  type Proxy,
  type ProxyOptions,
  type RecordingOptions,
  startProxy,
  type TrafficOptions,
} from "./traffic.ts";
export { load, type LoadChoice, type Loaded, type LoadOptions } from "./load.ts";
export { type JudgedNight, night, type NightOptions } from "./night.ts";
export type { ReportedLatencyShift as TimeChange } from "../report/history/night.ts";
export { type VendorDescription, vendors, type VendorsOptions } from "./vendors.ts";
export type { VendorComparison as SideBySide, VendorSummary as VendorHead } from "../report/vendors/comparison.ts";
export { renderVendorsPage as renderVendorsHtml } from "../report/vendors/page.ts";
export { renderVendorsMarkdown } from "../report/vendors/markdown.ts";
export type { CheckSelection } from "./scope.ts";
export type { EmbeddedTarget, PlainTarget, TargetDescription, TargetFile } from "./target.ts";
export { UsageError as UsageProblem } from "../base/line.ts";

export { type ReferenceServer, type ServerOptions, startServer } from "./server.ts";
export type { KeyTraits, ReferenceKey, RequestLine } from "../reference/reference.ts";
export type { DeploymentChange } from "../reference/server/deployments.ts";
export type { HealthStatus } from "../spec/events-and-errors.ts";
export type { TierName } from "../spec/tiers.ts";

export { type BehaviourEntry, type CheckEntry, faults, listChecks, variants } from "./catalogue.ts";
export type { Level } from "../spec/clause.ts";
export { newestRequirements, type RequirementSet, requirementSets } from "../spec/clause.ts";

export { type FormatEntry, listFormats, renderFormat, renderHar, renderText, writeReport } from "./reports.ts";
export type { FormatName, FormatParts } from "../report/formats/registry.ts";
export type { Digests } from "../report/statement/statement.ts";
export { readReportDocument as readReport } from "../app/report-folder/saved-report.ts";
export { renderHtml } from "../report/html/render-html.ts";
export { renderJunit } from "../report/formats/junit.ts";
export { renderCtrf } from "../report/formats/ctrf.ts";
export { renderMarkdown } from "../report/formats/markdown.ts";
export { badgeEndpoint, renderBadge } from "../report/formats/badge.ts";
export type { FailurePolicy as FormatRules } from "../report/model/failure-policy.ts";
export { runExitCode as exitCodeOf, type RunExitOptions } from "../report/model/verdict.ts";
export type { Baseline, KnownFailure } from "../report/model/failure-policy.ts";
export type { ReportDocument } from "../report/model/report.ts";
export type { Evidence, ProbeEvidence } from "../evidence/evidence.ts";
export type { Delivery, DeliveryReply } from "../evidence/delivery.ts";
export type {
  Answered,
  Body,
  Ending,
  Exchange,
  Header,
  SentRequest,
  StreamEvent,
  Unanswered,
} from "../evidence/exchange.ts";
export type { ProbeResult } from "../evidence/evidence.ts";
export type { Outcome, ReportFinding, RowLevel } from "../report/model/finding.ts";
export type { CreatedResource as Created, Report, Totals, UntestableRow, Verdict } from "../report/model/report.ts";
export type { LoadResults as LoadPart, LoadRun, Percentiles, Spread } from "../report/model/load-results.ts";
export type { LoadEvidence } from "../evidence/load-evidence.ts";

export { compare } from "./reports.ts";
export type {
  UnpairedReason as Absence,
  Change,
  Comparison,
  FindingChange,
  FindingChanges,
  FindingIdentity as FindingName,
  UnpairedFinding as LoneFinding,
  ObservationChange,
  Regression,
  FindingResult as Said,
  ComparedSide as Side,
  SuiteChange,
} from "../report/compare/comparison.ts";
export type {
  MetricGroup as FigureGroup,
  MetricUnit as FigureUnit,
  LoadMetric as LoadFigure,
  Trial,
} from "../report/compare/comparison.ts";
export type { RegressionKind } from "../report/compare/regression-rules.ts";

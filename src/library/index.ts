// What `import { … } from "agent-hosting-conformance"` gives. Every type that a signature names is here, too.

export { judge, type Judged, type JudgeOptions } from "./judge.ts";
export type { JudgeScope } from "./scope.ts";
export { rejudge } from "./judge.ts";
export { load, type LoadChoice, type Loaded, type LoadOptions } from "./load.ts";
export { type JudgedNight, night, type NightOptions } from "./night.ts";
export type { TimeChange } from "../history/night.ts";
export { type VendorDescription, vendors, type VendorsOptions } from "./vendors.ts";
export type { SideBySide, VendorHead } from "../vendors/side-by-side.ts";
export { sideBySidePage as renderVendorsHtml } from "../vendors/page.ts";
export { sideBySideMarkdown as renderVendorsMarkdown } from "../vendors/markdown.ts";
export type { CheckSelection } from "./scope.ts";
export type { EmbeddedTarget, PlainTarget, TargetDescription, TargetFile } from "./target.ts";
export { NothingToJudge, UsageProblem } from "./problems.ts";

export { type ReferenceServer, type ServerOptions, startServer } from "./server.ts";
export type { KeyTraits, ReferenceKey, RequestLine } from "../reference/reference.ts";
export type { DeploymentChange } from "../reference/server/deployments.ts";
export type { HealthStatus } from "../interface/events.ts";
export type { TierName } from "../interface/tiers.ts";

export { type BehaviourEntry, type CheckEntry, faults, listChecks, variants } from "./catalogue.ts";
export type { Level } from "../interface/clause.ts";

export { type FormatEntry, listFormats, renderFormat, renderHar, renderText, writeReport } from "./reports.ts";
export type { FormatName, FormatParts } from "../report/formats/registry.ts";
export type { Digests } from "../report/statement/statement.ts";
export { readDocument as readReport } from "../app/folder/read-document.ts";
export { renderHtml } from "../report/html/render.ts";
export { renderJunit } from "../report/formats/junit.ts";
export { renderCtrf } from "../report/formats/ctrf.ts";
export { renderMarkdown } from "../report/formats/markdown.ts";
export { badgeEndpoint, renderBadge } from "../report/formats/badge.ts";
export type { FormatRules } from "../report/formats/rules.ts";
export { runExitCode as exitCodeOf, type RunExitOptions } from "../report/verdict.ts";
export type { Baseline, KnownFailure } from "../report/baseline.ts";
export type { ReportDocument } from "../report/report.ts";
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
export type {
  Created,
  Outcome,
  Report,
  ReportFinding,
  RowLevel,
  Totals,
  UntestableRow,
  Verdict,
} from "../report/report.ts";
export type { LoadPart, LoadRun, Percentiles, Spread } from "../report/load-part.ts";
export type { LoadEvidence } from "../load/load-evidence.ts";

export { compare } from "./reports.ts";
export type {
  Absence,
  Change,
  Comparison,
  FindingChange,
  FindingChanges,
  FindingName,
  LoneFinding,
  ObservationChange,
  Regression,
  Said,
  Side,
  SuiteChange,
} from "../compare/comparison.ts";
export type { FigureGroup, FigureUnit, LoadFigure, Trial } from "../compare/comparison.ts";
export type { RegressionKind } from "../compare/rules.ts";

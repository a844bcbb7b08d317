/**
 * Layer `testing`: finds the mistakes of controllers before they run on a cluster.
 */

export { explore, type Explored, type ExploreOptions, type Program } from './explore.ts'
export type { Progress, Stopped, Tier, TierResult } from './tier-runner.ts'
export type { Coverage, CoverageShare } from './coverage.ts'
export { exploreModule, type ExploreModuleOptions } from './explore-module.ts'
export {
  replay,
  replayFile,
  parseReplayFile,
  replayFileOf,
  writeReplayFiles,
  type Replayed,
  type ReplayOptions,
  type ReplayStep,
  type ReplayFile,
} from './replay.ts'
export { formatFailure, formatLine, formatReport, formatProgress, type ReportOptions } from './report/text.ts'
export { formatHtml } from './report/html.ts'
export type { ObjectChange, Timeline, TimelineRow, StoryLine } from './report/timeline.ts'
export type { Failure } from './failures.ts'
export {
  describeDeviation,
  profiles,
  type DeviationAction,
  type Deviation,
  type ObjectReference,
  type SchedulePoint,
  type Profile,
  type ProfileName,
} from './deviation.ts'
export { liveRules, type LiveFinding, type LiveRules, type LiveRulesOptions } from './live/live-rules.ts'
export { matchers } from './live/matchers.ts'
export { planeFixture, startTestPlane, type TestPlane, type TestPlaneOptions } from './live/test-plane.ts'
export { ruleCodes } from './rules/registry.ts'
export type { Finding, Severity } from './rules/rule.ts'
export type { ExternalService, ProcessContext, RuleException, Scenario, UserStep, WorldView } from './scenario.ts'

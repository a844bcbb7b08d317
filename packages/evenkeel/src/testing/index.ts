/**
 * Layer 8: finding the mistakes of controllers before they meet a cluster. Published as `evenkeel/testing`.
 */
export { explore } from './explore/explore.ts'
export type { Explored, ExploreOptions, Program } from './explore/explore.ts'
export type { Progress, Stopped, Tier, TierResult } from './explore/tour.ts'
export type { Coverage, CoverageShare } from './explore/coverage/coverage.ts'
export { exploreModule } from './explore/cores/explore-module.ts'
export type { ExploreModuleOptions } from './explore/cores/explore-module.ts'
export { replay, replayFile } from './explore/told/replay.ts'
export type { Replayed, ReplayOptions, ReplayStep } from './explore/told/replay.ts'
export { parseReplayFile, replayFileOf, writeReplayFiles } from './report/replay-file.ts'
export type { ReplayFile } from './report/replay-file.ts'
export { formatFailure, formatLine, formatReport } from './report/text.ts'
export type { ReportOptions } from './report/text.ts'
export { formatHtml } from './report/page/html.ts'
export { formatProgress } from './report/summary.ts'
export type { ObjectChange, Timeline, TimelineRow } from './report/timeline.ts'
export type { StoryLine } from './report/story.ts'
export type { Failure } from './explore/collected.ts'
export { describeDeviation } from './faults/deviation.ts'
export type { DeviationAction, Deviation, ObjectReference, SchedulePoint } from './faults/deviation.ts'
export { liveRules } from './plane/live-rules.ts'
export type { LiveFinding, LiveRules, LiveRulesOptions } from './plane/live-rules.ts'
export { matchers } from './plane/matchers.ts'
export { planeFixture } from './plane/fixture.ts'
export { startTestPlane } from './plane/test-plane.ts'
export type { TestPlane, TestPlaneOptions } from './plane/test-plane.ts'
export { ruleCodes } from './rules/index.ts'
export { profiles } from './faults/profile.ts'
export type { Profile, ProfileName } from './faults/profile.ts'
export type { Finding, Severity } from './rules/finding.ts'
export type {
  ExternalService,
  ProcessContext,
  RuleException,
  Scenario,
  UserStep,
  WorldView,
} from './scenario/scenario.ts'

/**
 * Layer `testing`: finds the mistakes of controllers before they run on a cluster.
 */

export { explore, type Explored, type ExploreOptions } from './explore.ts'
export type { Progress, Tier } from './tier-runner.ts'

export { exploreModule, type ExploreModuleOptions } from './explore-module.ts'
export {
  replay,
  replayFile,
  parseReplayFile,
  replayFileOf,
  writeReplayFiles,
  type Replayed,
  type ReplayStep,
  type ReplayFile,
} from './replay.ts'
export { formatFailure, formatLine, formatReport, formatProgress } from './report/text.ts'
export { formatHtml } from './report/html.ts'
export type { StoryLine } from './report/story.ts'
export type { Failure } from './failures.ts'
export { type ProfileName } from './deviation.ts'
export { liveRules } from './live/live-rules.ts'
export { matchers } from './live/matchers.ts'
export { planeFixture, startTestPlane, type TestPlane, type TestPlaneOptions } from './live/test-plane.ts'
export { ruleCodes } from './rules/registry.ts'

export type { ProcessContext, RuleException, Scenario, UserStep, WaitStep, WorldView } from './scenario.ts'

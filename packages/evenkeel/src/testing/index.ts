/**
 * Layer 8: finding the mistakes of controllers before they meet a cluster. Published as `evenkeel/testing`.
 */
export { explore } from './explore/explore.ts'
export type { Explored, ExploreOptions, Program } from './explore/explore.ts'
export { replay } from './explore/replay.ts'
export type { Replayed } from './explore/replay.ts'
export { parseReplayFile } from './report/replay-file.ts'
export type { ReplayFile } from './report/replay-file.ts'
export { formatFailure, formatReport } from './report/text.ts'
export type { StoryLine } from './report/story.ts'
export type { Failure } from './explore/collected.ts'
export { describeDeviation } from './faults/deviation.ts'
export type { Deed, Deviation, ObjectPlace, Place } from './faults/deviation.ts'
export { profiles } from './faults/profile.ts'
export type { Profile, ProfileName } from './faults/profile.ts'
export type { Finding, Severity } from './rules/finding.ts'
export type { OutsideService, ProcessContext, RuleException, Scenario, UserStep, WorldView } from './scenario/scenario.ts'

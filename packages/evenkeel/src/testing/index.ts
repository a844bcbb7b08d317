/**
 * Layer 8: finding the mistakes of controllers before they meet a cluster. Published as `evenkeel/testing`.
 */
export { explore } from './explore/explore.ts'
export type { Explored, ExploreOptions, Program } from './explore/explore.ts'
export type { Failure } from './explore/collected.ts'
export { describeDeviation } from './faults/deviation.ts'
export type { Deed, Deviation, ObjectPlace, Place } from './faults/deviation.ts'
export { profiles } from './faults/profile.ts'
export type { Profile, ProfileName } from './faults/profile.ts'
export type { Finding, Severity } from './rules/finding.ts'
export type { OutsideService, ProcessContext, RuleException, Scenario, UserStep, WorldView } from './scenario/scenario.ts'

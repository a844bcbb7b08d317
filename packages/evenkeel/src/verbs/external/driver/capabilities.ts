/**
 * The sheet on what a system can do, from which follows how a thing is known to be ours:
 *
 *   S1 names that we choose   S2 marks that are there from the first moment   S3 tokens that make a repeated create harmless
 *   S4 an object of ours that is written first   S5 a file of ours that is written first
 *
 * The strongest that the sheet allows is used. A sheet that contradicts its driver is refused when it is declared; one
 * that lies about the system shows when a thing does not look as it should, and then nothing is touched.
 */
import type { Driver } from './driver.ts'

export interface Capabilities {
  /** Whether things can carry marks, and since when. @default 'none' */
  readonly labels?: 'atomicOnCreate' | 'afterCreate' | 'none'
  /** Who names things. @default 'assigned' */
  readonly ids?: 'deterministic' | 'assigned'
  /** What makes a second create of the same thing harmless. @default 'no' */
  readonly idempotent?: 'byName' | 'byToken' | 'no'
  /** For how long a look may show what was there before. @default 0 */
  readonly consistencyWindowMs?: number
  /** How many calls are allowed. @default as many as there are */
  readonly quota?: {
    readonly callsPerSecond: number
    /** How many at once after a pause. @default callsPerSecond, at least 1 */
    readonly burst?: number
  }
}

/** How a thing is known to be ours. */
export type Strategy = 'S1' | 'S2' | 'S3' | 'S4' | 'S5'

interface StrategyOptions {
  /** A file is there for what must be remembered. */
  readonly hasCheckpoint: boolean
}

/** The strongest strategy that the sheet allows. */
export function chooseStrategy(
  {
    capabilities: { labels: marks = 'none', ids = 'assigned', idempotent = 'no' },
    identify,
    list,
  }: Pick<Driver, 'capabilities' | 'identify' | 'list'>,
  { hasCheckpoint }: StrategyOptions,
): Strategy {
  // A name of the author's choice says what it is for, not whose it is.
  if (ids === 'deterministic' && !identify) return 'S1'
  if (marks === 'atomicOnCreate' && (list || ids === 'deterministic')) return 'S2'
  if (idempotent === 'byToken') return 'S3'
  return hasCheckpoint ? 'S5' : 'S4'
}

const strategyTexts: Readonly<Record<Strategy, string>> = {
  S1: 'its name is made from the instance and the uid',
  S2: 'it carries our marks from the first moment',
  S3: 'a repeated create with the same token gives the same thing',
  S4: 'an ExternalRef is written before it is made',
  S5: 'a local checkpoint is written before it is made',
}

/** A sentence on the strategy, for logs. */
export function describeStrategy(strategy: Strategy): string {
  return strategyTexts[strategy]
}

/** @throws {RangeError} when the sheet and the driver contradict each other. */
export function checkDriver(driver: Driver): void {
  const { name, capabilities, identify, setLabels: mark } = driver
  const { labels: marks = 'none', ids = 'assigned', idempotent = 'no', consistencyWindowMs = 0, quota } = capabilities
  const refuse = (what: string): never => {
    throw new RangeError(`the driver ${name}: ${what}`)
  }
  if (!/^[a-z0-9](?:[-a-z0-9]{0,38}[a-z0-9])?$/.test(name))
    refuse('its name must be up to 40 letters in lower case, digits and dashes')
  if (!['atomicOnCreate', 'afterCreate', 'none'].includes(marks))
    refuse(`marks must be atomicOnCreate, afterCreate or none, got ${String(marks)}`)
  if (!['deterministic', 'assigned'].includes(ids)) refuse(`ids must be deterministic or assigned, got ${String(ids)}`)
  if (!['byName', 'byToken', 'no'].includes(idempotent))
    refuse(`idempotent must be byName, byToken or no, got ${String(idempotent)}`)
  if (marks === 'afterCreate' && !mark) refuse('marks that are put on after the create need a mark function')
  if (idempotent === 'byName' && ids === 'assigned')
    refuse('a create that is idempotent by name needs ids that are deterministic')
  if (identify && ids === 'assigned')
    refuse(
      'identify gives names, and the sheet says that the system assigns them: say ids: deterministic, or leave identify out',
    )
  if (!(consistencyWindowMs >= 0 && consistencyWindowMs < Infinity))
    refuse(`consistencyWindowMs must be 0 or more, got ${consistencyWindowMs}`)
  if (quota && !(quota.callsPerSecond > 0 && (quota.burst ?? 1) >= 1))
    refuse('a quota must be above 0 calls a second, and a burst at least 1')
}

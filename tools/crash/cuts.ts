/**
 * Simulated power cuts: the real engine on a simulated disk, cut at every kind of moment; each remaining disk is
 * opened and compared with the acknowledged commits.
 *
 * Everything runs in promise jobs on a stopped clock, so that a seed always gives the same run.
 */
import { randomInt, SeededRandom } from 'evenkeel/unstable/base'
import type { Clock, Random } from 'evenkeel/unstable/base'
import { isStoreError, openOnDisk, SimulatedDisk } from 'evenkeel/unstable/store'
import type { Disk, FileStore } from 'evenkeel/unstable/store'
import { Model } from './model.ts'
import type { Step } from './model.ts'
import { withoutChecksums, withoutSync } from './wrong.ts'

export interface CutResult {
  cuts: number
  /** Acknowledged commits at each cut, summed over the cuts. */
  acked: number
  lost: number
  garbage: number
  /** Remaining disks that the store refused to open although only unsynced data was lost. */
  refused: number
  /** Cuts during the recovery from another cut. */
  cutsInRecovery: number
  recoveryMs: number
  /** The first run with a fault. */
  firstSeed: string | undefined
}

export type Variant = 'right' | 'ack before sync' | 'no checksum'

/** A clock for runs that never wait: everything happens in promise jobs. */
const stillClock: Clock = {
  now: () => 0,
  monotonic: () => 0,
  after: () => () => undefined,
  soon: queueMicrotask,
}

/** One remaining disk of a cut, and the known state at that time. */
interface Remainder {
  readonly files: Map<string, Buffer>
  readonly acked: number
  readonly submitted: number
  readonly revision: number
}

/** Runs scenarios until this many cuts were checked. */
export async function runCuts(
  wanted: number,
  { variant, seed, onProgress }: { variant: Variant; seed: string; onProgress: (cuts: number) => void },
): Promise<CutResult> {
  const result: CutResult = {
    cuts: 0,
    acked: 0,
    lost: 0,
    garbage: 0,
    refused: 0,
    cutsInRecovery: 0,
    recoveryMs: 0,
    firstSeed: undefined,
  }
  for (let run = 0; result.cuts < wanted; run++) {
    const scenario = new Scenario(`${seed}/${run}`, variant)
    const wrongBefore = result.lost + result.garbage + result.refused
    await scenario.play()
    await scenario.judge(result, wanted)
    if (result.lost + result.garbage + result.refused > wrongBefore) result.firstSeed ??= `${seed}/${run}`
    onProgress(result.cuts)
  }
  return result
}

class Scenario {
  readonly #random: Random
  readonly #variant: Variant
  readonly #disk: SimulatedDisk
  readonly #remainders: Remainder[] = []
  readonly #oneIn: number
  readonly #logBytesMin: number
  #model = new Model()
  #acked = 0
  #revision = 1
  #ackedRevision = 1

  constructor(seed: string, variant: Variant) {
    this.#random = new SeededRandom(seed)
    this.#variant = variant
    this.#oneIn = 1 + randomInt(this.#random, 3)
    this.#logBytesMin = [600, 3_000, 20_000, 1e9][randomInt(this.#random, 4)] ?? 1e9
    this.#disk = new SimulatedDisk({
      after: () => {
        this.#maybeCut()
      },
    })
  }

  /** Some commits, single and concurrent, with compactions and restarts. */
  async play(): Promise<void> {
    let store = await this.#open(this.#disk)
    const rounds = 4 + randomInt(this.#random, 12)
    for (let round = 0; round < rounds; round++) {
      const submitted = Array.from({ length: 1 + randomInt(this.#random, 6) }, () => this.#submit(store))
      const compaction = randomInt(this.#random, 5) === 0 ? store.compactLog() : undefined
      await Promise.all(submitted)
      await compaction
      if (randomInt(this.#random, 12) > 0) continue
      await store.close()
      store = await this.#open(this.#disk)
      this.#revision = await store.head()
    }
  }

  /** Opens every remaining disk and adds the result. */
  async judge(result: CutResult, wanted: number): Promise<void> {
    for (const remainder of this.#remainders) {
      if (result.cuts >= wanted) return
      const second = randomInt(this.#random, 8) === 0
      const started = performance.now()
      const files = second ? await this.#cutRecovery(remainder) : remainder.files
      if (second) result.cutsInRecovery++
      await this.#judgeOne({ ...remainder, files }, result)
      result.recoveryMs = Math.max(result.recoveryMs, performance.now() - started)
      result.cuts++
      result.acked += remainder.acked
    }
  }

  async #judgeOne({ files, acked, submitted, revision }: Remainder, result: CutResult): Promise<void> {
    try {
      const store = await this.#open(new SimulatedDisk({}, files))
      const found = await store.range('')
      if (!found.ok) throw new Error('the newest revision can always be read')
      const verdict = this.#model.judge(found.entries, { acked, submitted })
      if (verdict === 'lost' || found.revision < revision) result.lost++
      else if (verdict === 'garbage') result.garbage++
    } catch (error) {
      if (!isStoreError(error)) throw error
      result.refused++
    }
  }

  /** Cuts the power again while the disk is opened. */
  async #cutRecovery({ files }: Remainder): Promise<Map<string, Buffer>> {
    let left = randomInt(this.#random, 24)
    let again: Map<string, Buffer> | undefined
    const disk = new SimulatedDisk(
      {
        after: () => {
          if (left-- === 0) again = this.#leave(disk)
        },
      },
      files,
    )
    await this.#open(disk).catch((error: unknown) => {
      if (!isStoreError(error)) throw error
    })
    return again ?? this.#leave(disk)
  }

  #open(disk: SimulatedDisk): Promise<FileStore> {
    const used: Disk = this.#variant === 'ack before sync' ? withoutSync(disk) : disk
    return openOnDisk(used, {
      clock: stillClock,
      random: this.#random,
      logBytesMin: this.#logBytesMin,
      reserveBytes: 0,
    })
  }

  async #submit(store: FileStore): Promise<void> {
    const steps = this.#steps()
    const writes = steps.map(({ key, value }) => ({ key, expect: this.#model.expect(key), ...(value && { value }) }))
    const revision = ++this.#revision
    this.#model.submit(steps, revision)
    const number = this.#model.length
    const result = await store.commitAll(writes)
    if (!result.ok || result.revision !== revision)
      throw new Error(`commit ${number} should have got revision ${revision}, got ${JSON.stringify(result)}`)
    this.#acked = number
    this.#ackedRevision = revision
  }

  #steps(): Step[] {
    const keys = new Set(
      Array.from({ length: randomInt(this.#random, 6) === 0 ? 3 : 1 }, () => `/k/${randomInt(this.#random, 8)}`),
    )
    return [...keys].map((key) => {
      if (this.#model.expect(key) > 0 && randomInt(this.#random, 4) === 0) return { key, value: undefined }
      return {
        key,
        value: Buffer.alloc(
          randomInt(this.#random, [40, 700, 3_000][randomInt(this.#random, 3)] ?? 40),
          `${key} ${this.#revision} `,
        ),
      }
    })
  }

  #maybeCut(): void {
    if (randomInt(this.#random, this.#oneIn) > 0) return
    const known = { acked: this.#acked, submitted: this.#model.length, revision: this.#ackedRevision }
    for (let count = 0; count < 2; count++) this.#remainders.push({ files: this.#leave(this.#disk), ...known })
  }

  #leave(disk: SimulatedDisk): Map<string, Buffer> {
    const files = disk.cut(this.#random)
    return this.#variant === 'no checksum' ? withoutChecksums(files) : files
  }
}

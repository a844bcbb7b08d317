/**
 * Runs the whole suite on one target, a vitest test per case.
 */
import { afterAll, beforeAll, describe, test } from 'vitest'
import { serverSuite } from './cases/index.ts'
import { reasonToSkip, runCase } from './target.ts'
import type { ServerCase } from './target.ts'
import { inProcessLacks, ourDifferences } from './targets/evenkeel.ts'
import type { EvenkeelTarget } from './targets/evenkeel.ts'

interface JudgeOptions {
  readonly start: () => Promise<EvenkeelTarget>
  /** What the target cannot do; known before it starts, so that skipped cases show the reason. */
  readonly lacks?: EvenkeelTarget['lacks']
  /** The cases. @default all */
  readonly only?: (one: ServerCase) => boolean
  /** Why it cannot be tested here. */
  readonly unavailable?: string | undefined
}

/** Cases that compact all history run last and alone: they would break the others. */
const forgetting = serverSuite.filter(({ needs = [] }) => needs.includes('compaction'))
const peaceful = serverSuite.filter(({ needs = [] }) => !needs.includes('compaction'))

export function judge(
  name: string,
  { start, lacks = inProcessLacks, only = () => true, unavailable }: JudgeOptions,
): void {
  describe.skipIf(unavailable !== undefined)(unavailable === undefined ? name : `${name} (${unavailable})`, () => {
    let target: EvenkeelTarget
    beforeAll(async () => {
      target = await start()
    })
    afterAll(() => target.stop())
    const add = (one: ServerCase): void => {
      const reason = reasonToSkip(one, { lacks, differs: ourDifferences })
      test.skipIf(reason !== undefined)(reason === undefined ? one.id : `${one.id} (${reason})`, () =>
        runCase(one, target),
      )
    }
    // In parallel: many of them wait.
    describe.concurrent('side by side', () => {
      for (const one of peaceful.filter(only)) add(one)
    })
    const alone = forgetting.filter(only)
    describe.skipIf(alone.length === 0)('alone', () => {
      for (const one of alone) add(one)
    })
  })
}

/**
 * One case of the store suite on every engine, for the contributor's gate. store.test.ts runs the whole suite.
 */
import { expect, test } from 'vitest'
import { storeSuite } from './cases/store/index.ts'
import { storeEngines } from './targets/index.ts'
import { onTarget, reasonToSkip } from './targets/target.ts'

test.for(storeEngines.map((engine) => [engine.name, engine] as const))(
  '%s passes one case',
  async ([, engine], { skip }) => {
    const unavailable = engine.unavailable()
    if (unavailable !== undefined) skip(unavailable)
    const one = storeSuite.find((candidate) => reasonToSkip(candidate, engine) === undefined)
    expect(one).toBeDefined()
    const running = await engine.start()
    try {
      if (one) await onTarget(running, one.run)
    } finally {
      await running.stop()
    }
  },
)

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { storeSuite } from './cases/store/index.ts'
import { storeEngines } from './targets/index.ts'
import { onTarget, reasonToSkip } from './targets/target.ts'
import type { RunningEngine } from './targets/target.ts'

test('every case has a unique id and a rule', () => {
  const ids = storeSuite.map(({ id }) => id)
  expect(new Set(ids).size).toBe(ids.length)
  for (const { id, rule } of storeSuite) {
    expect(id).toMatch(/^store\/[a-z]+(?:\/[a-z0-9-]+)$/)
    expect(rule).toMatch(/^[A-Z`].+\.$/)
  }
})

for (const engine of storeEngines) {
  const unavailable = engine.unavailable()
  describe.skipIf(unavailable !== undefined)(
    unavailable === undefined ? engine.name : `${engine.name} (${unavailable})`,
    () => {
      let running: RunningEngine
      beforeAll(async () => {
        running = await engine.start()
      })
      afterAll(() => running.stop())

      for (const one of storeSuite) {
        const reason = reasonToSkip(one, engine)
        test.skipIf(reason !== undefined)(reason === undefined ? one.id : `${one.id} (${reason})`, () =>
          onTarget(running, one.run),
        )
      }
    },
  )
}

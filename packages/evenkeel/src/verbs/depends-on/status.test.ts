import { expect, test } from 'vitest'
import { jsonSize, type DependencyReport, type JsonObject } from '#api'
import { route } from './informers.fixture.ts'
import { linesOf } from './status.ts'

const ref = { group: 'app.test.dev', kind: 'App', namespace: 'a', name: 'web' }

function lineWith(published: JsonObject, keepsLastGood = true): DependencyReport | undefined {
  const check = { ref, message: '', contract: { value: published, published } }
  const checked = { check: check as never, isOptional: false, isRatchet: false, keepsLastGood }
  return linesOf([checked], { referer: route('r'), nowMs: 0, isRecord: false })[0]
}

test('a contract is kept in the status if that is wanted and it has at most 4096 bytes', () => {
  const ofSize = (bytes: number): JsonObject => ({ text: 'x'.repeat(bytes - jsonSize({ text: '' })) })
  expect(lineWith(ofSize(4096))?.contract).toEqual(ofSize(4096))
  expect(lineWith(ofSize(4097))?.contract).toBeUndefined()
  expect(lineWith(ofSize(100), false)?.contract).toBeUndefined()
})

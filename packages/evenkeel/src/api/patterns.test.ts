import { beforeAll, expect, test } from 'vitest'
import { loadPatternEngine, matchesPattern } from './patterns.ts'

let runs = 0

beforeAll(loadPatternEngine)

test('matchesPattern finds a pattern when it is new and when it is known', () => {
  const word = `word${runs++}`
  for (let round = 0; round < 2; round++) {
    expect(matchesPattern(`^${word}$`, word)).toBe(true)
    expect(matchesPattern(`^${word}$`, `${word}s`)).toBe(false)
  }
})

test('matchesPattern finds a pattern that cannot be read nowhere', () => {
  expect(matchesPattern('(', '(')).toBe(false)
})

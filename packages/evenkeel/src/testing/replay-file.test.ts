import { describe, expect, test } from 'vitest'
import { parseReplayFile } from './replay.ts'

const file = {
  format: 1,
  scenario: 'boxes',
  profile: 'evenkeel',
  seed: '1',
  deviations: [{ at: { type: 'effect', index: 1 }, deed: { type: 'crash' } }],
  expected: { rule: 'cleanup', about: 'x' },
  hash: '0',
}

describe('parseReplayFile', () => {
  test('reads what was written', () => {
    expect(parseReplayFile(JSON.stringify({ ...file, steps: 1, module: '../a.ts#b' }))).toEqual({
      ...file,
      steps: 1,
      module: '../a.ts#b',
    })
  })

  test.each([
    ['{', 'it is not JSON'],
    ['null', 'not a replay file of format 1'],
    [JSON.stringify({ ...file, format: 2 }), 'not a replay file of format 1'],
    [JSON.stringify({ ...file, deviations: [{ at: 1 }] }), 'is damaged'],
    [JSON.stringify({ ...file, expected: undefined }), 'is damaged'],
    [JSON.stringify({ ...file, module: 7 }), 'module must be a path'],
    [JSON.stringify({ ...file, profile: 'mars' }), 'for the profile "mars", which is not known'],
  ])('explains what is wrong with %s', (text, message) => {
    expect(() => parseReplayFile(text)).toThrow(message)
  })
})

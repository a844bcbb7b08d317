import { describe, expect, test } from 'vitest'
import { parseReplayFile } from './replay.ts'

const file = {
  format: 2,
  scenario: 'boxes',
  profile: 'evenkeel',
  seed: '1',
  deviations: [{ at: { type: 'effect', index: 1 }, action: { type: 'crash' } }],
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
    ['{', 'the text is not JSON'],
    ['null', 'it has no format'],
    [
      JSON.stringify({ ...file, format: 1 }),
      'has format 1, this version reads format 2: explore again to write a new file',
    ],
    [JSON.stringify({ ...file, deviations: [{ at: 1 }] }), 'is damaged'],
    [JSON.stringify({ ...file, expected: undefined }), 'is damaged'],
    [JSON.stringify({ ...file, module: 7 }), 'module must be a path'],
    [JSON.stringify({ ...file, profile: 'mars' }), 'unknown profile "mars"'],
  ])('explains what is wrong with %s', (text, message) => {
    expect(() => parseReplayFile(text)).toThrow(message)
  })
})

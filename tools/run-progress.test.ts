import { describe, expect, test } from 'vitest'
import { RunProgress } from './run-progress.mjs'

const paths = ['a.test.ts', 'b.test.ts', 'c.test.ts']
const times = { 'a.test.ts': 60_000, 'b.test.ts': 20_000, 'c.test.ts': 20_000 }

function after(startedMs = 0): RunProgress {
  const progress = new RunProgress({ paths, times, startedMs })
  progress.add({ path: 'a.test.ts', ms: 90_000, states: ['passed', 'passed', 'failed', 'skipped'] })
  return progress
}

describe('progress of npm test', () => {
  test('is files done of all, tests, and the time left from the last run, at the pace of this one', () => {
    const none = new RunProgress({ paths, times })
    expect(none.line(0)).toBe('0 of 3 files, 0 passed, 0 failed, about 0 s left')
    const one = new RunProgress({ paths, times })
    one.add({ path: 'a.test.ts', ms: 60_000, states: ['passed', 'failed'] })
    expect(one.line(30_000)).toBe('1 of 3 files, 1 passed, 1 failed, about 20 s left')
    expect(one.line(120_000)).toBe('1 of 3 files, 1 passed, 1 failed, about 2 min left')
    // It took 90 seconds instead of 60, together with others: only the pace counts.
    expect(after(10_000).line(70_000)).toBe('1 of 3 files, 2 passed, 1 failed, about 40 s left')
  })

  test('guesses for files that never ran, and keeps the times of this run for the next', () => {
    const progress = new RunProgress({ paths: ['new.test.ts', 'newer.test.ts'], times })
    progress.add({ path: 'new.test.ts', ms: 500, states: ['passed'] })
    expect(progress.line(500)).toBe('1 of 2 files, 1 passed, 0 failed, about 1 s left')
    expect(progress.times).toEqual({ ...times, 'new.test.ts': 500 })
    expect(times).not.toHaveProperty('new.test.ts')
  })
})

describe('skipped tests', () => {
  test('are counted by file, with the programs that are missing and the packages that have them', () => {
    const progress = after()
    progress.add({ path: 'b.test.ts', ms: 1, states: ['skipped', 'skipped', 'passed'] })
    expect(progress.skippedLines((name) => !['etcdctl', 'podman'].includes(name))).toEqual([
      '3 tests were skipped. Missing programs: etcdctl (Debian package etcd-client), podman.',
      '  2 in b.test.ts',
      '  1 in a.test.ts',
    ])
    expect(after().skippedLines(() => true)).toEqual(['1 test was skipped.', '  1 in a.test.ts'])
  })

  test('are not mentioned when there are none, and their list is bounded', () => {
    expect(new RunProgress({ paths, times }).skippedLines(() => false)).toEqual([])
    const many = new RunProgress({ paths, times })
    for (let index = 0; index < 12; index++) many.add({ path: `${index}.test.ts`, ms: 1, states: ['skipped'] })
    const lines = many.skippedLines(() => true)
    expect([lines.length, lines.at(-1)]).toEqual([12, '  and in 2 other files'])
  })
})

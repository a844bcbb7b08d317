import { describe, expect, test } from 'vitest'
import { descendantsOf, withoutForwarded, withoutTerminals } from './descendants.ts'
import type { ProcessEntry } from './process-host.ts'

const entry = (pid: number, given: Partial<ProcessEntry> = {}): ProcessEntry => ({
  pid,
  parentPid: 1,
  groupId: pid,
  sessionId: pid,
  startTicks: 100,
  command: `program ${pid}`,
  ...given,
})
const run = { identity: { pid: 812, startTicks: 100 }, mark: 's/session/u/1' }
const { mark } = run
const pidsOf = (...entries: ProcessEntry[]): number[] => descendantsOf(run, entries).map(({ pid }) => pid)

describe('descendantsOf', () => {
  test.each([
    ['the leader itself', [entry(812)], [812]],
    [
      'its group and its session',
      [entry(812), entry(813, { groupId: 812 }), entry(814, { sessionId: 812 })],
      [812, 813, 814],
    ],
    [
      'a chain of children in groups of their own',
      [entry(812), entry(814, { parentPid: 813 }), entry(813, { parentPid: 812 })],
      [812, 813, 814],
    ],
    ['W7: what left the group and lost its parent, by its mark', [entry(812), entry(900, { mark })], [812, 900]],
    [
      'a command of exec, by its mark below that of the run',
      [entry(812), entry(900, { mark: `${mark}/exec-1` })],
      [812, 900],
    ],
    [
      'the group of a dead leader, if a member has the mark',
      [entry(813, { groupId: 812, mark }), entry(814, { groupId: 812 })],
      [813, 814],
    ],
  ])('finds %s', (_, entries, expected) => {
    expect(pidsOf(...entries).sort()).toEqual(expected)
  })

  test.each([
    ['a process with the mark of another run', [entry(900, { mark: 's/session/u/11' })]],
    ['a command of exec of another run', [entry(900, { mark: 's/session/u/11/exec-1' })]],
    ['W9: a process that got the pid of the leader', [entry(812, { startTicks: 101 })]],
    [
      'W9: the group that a stranger began with the pid',
      [entry(812, { startTicks: 101 }), entry(813, { groupId: 812, sessionId: 812, startTicks: 102 })],
    ],
    ['members of a group number without any mark', [entry(813, { groupId: 812 })]],
    ['a process that is older than the run', [entry(811, { groupId: 812, startTicks: 99, mark })]],
  ])('does not find %s', (_, entries) => {
    expect(pidsOf(...entries)).toEqual([])
  })
})

describe('withoutForwarded', () => {
  test.each([
    'npm run dev',
    'node /usr/lib/node_modules/npm/bin/npm-cli.js run dev',
    '/usr/bin/node --no-warnings /x/.bin/tsx watch main.ts',
    '/usr/local/bin/node /app/node_modules/tsx/dist/cli.mjs watch main.ts',
    'node /app/.yarn/releases/yarn-4.1.0.cjs dev',
    'pnpm dev',
    'yarn start',
    'npx vite',
    'node /x/nodemon.js app.js',
  ])('W6: the child of %j gets the signal from it, so not from us', (command) => {
    const members = [entry(1000, { command }), entry(1001, { parentPid: 1000 }), entry(1002, { parentPid: 1001 })]
    expect(withoutForwarded(members).map(({ pid }) => pid)).toEqual([1000, 1002])
  })

  test.each(['sh -c node a.js & node b.js', 'node server.js', 'node npm-stats.js', 'vim npm', 'python yarn_server.py'])(
    'W6: the child of %j gets it from us',
    (command) => {
      const members = [entry(1000, { command }), entry(1001, { parentPid: 1000 })]
      expect(withoutForwarded(members).map(({ pid }) => pid)).toEqual([1000, 1001])
    },
  )
})

test('W47: of a terminal only the program in it gets a signal', () => {
  const holder = entry(812, { command: "/usr/bin/script -qefc unset SHELL; exec 'sh' /dev/null" })
  const program = entry(813, { parentPid: 812, command: 'sh' })
  const person = entry(814, { command: 'script notes.txt' })
  expect(withoutTerminals([holder, program, person])).toEqual([program, person])
  expect(withoutTerminals([holder, person])).toEqual([person])
})

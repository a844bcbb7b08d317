import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isAtLeast } from './binaries.ts'
import { playSession } from './play.ts'
import type { Step } from './session.ts'
import { kubectlSessions } from './sessions/index.ts'
import { matches, splitArguments } from './text.ts'
import { makeTurns } from './turns.fixture.ts'

/** A fake kubectl: prints its arguments, then its input, and fails on request. */
const parrot = `#!/bin/sh
case "$*" in
  "config view"*) echo "c u" ;;
  "create namespace "*) echo "namespace/$3 created" ;;
  fail*) echo "$*" >&2; exit 3 ;;
  wait*) echo ready; while true; do sleep 0.05; done ;;
  *) echo "$*"; cat ;;
esac
`

let home = ''

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'evenkeel-parrot-'))
  await writeFile(join(home, 'parrot'), parrot)
  await chmod(join(home, 'parrot'), 0o755)
})

afterAll(() => rm(home, { recursive: true, force: true }))

function play(...steps: readonly Step[]): Promise<void> {
  return playSession(
    { name: 'parrot', steps },
    { kubectl: { path: join(home, 'parrot'), version: '1.30.0' }, kubeconfig: 'none', home },
  )
}

test('playSession: passes when every step goes as expected', async () => {
  await play(
    { run: "say 'one  two' $NS", expect: { out: 'say one two $NS' } },
    { run: 'read', stdin: '$NS\n', expect: { out: ['read', '$NS'] } },
    { run: 'fail', expect: { code: 3, err: /^fail/ } },
    { run: 'wait', during: { ready: /ready/, steps: [{ run: 'meanwhile' }], enough: /ready/ } },
  )
})

test('playSession: a different output, a different exit code or unexpected stderr is an error', async () => {
  await expect(play({ run: 'one', expect: { out: 'two' } })).rejects.toThrow('expected output:\ntwo')
  await expect(play({ run: 'fail' })).rejects.toThrow('exit code 3 instead of 0')
  await expect(play({ run: 'fail', expect: { code: 3, err: 'other' } })).rejects.toThrow('expected complaint:\nother')
  await expect(play({ run: 'one', during: { ready: /never/, steps: [] } })).rejects.toThrow(
    'ended before it wrote /never/',
  )
  await expect(
    play({ run: 'wait', during: { ready: /ready/, steps: [{ run: 'fail' }], enough: /ready/ } }),
  ).rejects.toThrow('kubectl fail')
})

test('playSession: steps for other versions are skipped', async () => {
  await play({ run: 'fail', since: '1.31' }, { run: 'fail', until: '1.30' })
  await expect(play({ run: 'fail', since: '1.30', until: '1.31' })).rejects.toThrow('exit code 3')
})

test('matches: tokens, spaces between words, and omitted lines', () => {
  expect(matches('NAME   AGE\na      3m2s\n', ['NAME AGE', 'a <age>'])).toBe(true)
  expect(matches('NAME   AGE\na      never\n', ['NAME AGE', 'a <age>'])).toBe(false)
  expect(matches('a\nb\nc\n', ['a', '...', 'c'])).toBe(true)
  expect(matches('a\n  b\n', ['a', 'b'])).toBe(false)
  expect(matches('one (two)', 'one (two)')).toBe(true)
})

test('splitArguments: quotes protect their content', () => {
  expect(splitArguments(`patch -p '{"a": 1}' --x="it's" y`)).toEqual(['patch', '-p', '{"a": 1}', "--x=it's", 'y'])
})

test('isAtLeast: compares versions by their numbers', () => {
  expect(isAtLeast('1.36.4', '1.9')).toBe(true)
  expect(isAtLeast('1.20.2', '1.21')).toBe(false)
})

test('makeTurns: limits concurrency and keeps the order', async () => {
  const turns = makeTurns(2)
  const events: string[] = []
  const one = (name: string) => async (): Promise<void> => {
    events.push(`${name} begins`)
    await Promise.resolve()
    events.push(`${name} ends`)
  }
  await Promise.all(['a', 'b', 'c'].map((name) => turns(one(name))))
  expect(events).toEqual(['a begins', 'b begins', 'a ends', 'b ends', 'c begins', 'c ends'])
})

test('kubectlSessions: names are unique and short enough for a namespace', () => {
  expect(new Set(kubectlSessions.map(({ name }) => name)).size).toBe(kubectlSessions.length)
  for (const { name } of kubectlSessions) expect(name).toMatch(/^[a-z][a-z-]{0,30}$/)
})

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { defineKind } from '#api'
import type { ControllerDeclaration } from '#controller'
import { explore } from './explore.ts'
import type { UserStep } from './scenario.ts'

const Box = defineKind({ group: 'test.dev', version: 'v1', kind: 'Box', spec: { type: 'object', properties: {} } })

/** The escapes of a program in the undisturbed schedule. */
async function escapesOf(reconcile: () => Promise<unknown>): Promise<string[]> {
  const controller: ControllerDeclaration<typeof Box> = {
    for: Box,
    async reconcile() {
      await reconcile()
    },
  }
  const steps: readonly UserStep[] = [
    {
      name: 'creates Box a',
      run: (user) => user.create(Box, { metadata: { name: 'a', namespace: 'default' }, spec: {} }),
    },
  ]
  const { failures } = await explore({
    controllers: () => [controller as unknown as ControllerDeclaration],
    scenario: { name: 'boxes', steps },
    tier: 0,
  })
  return failures.filter(({ rule }) => rule === 'escape').map(({ message }) => message.replace(/:\d+ /, ' '))
}

const bypasses = 'at escapes.test.ts bypasses the simulation: the schedule is not deterministic'

describe('a use of the machine that bypasses the simulation is reported with its place', () => {
  test('a file', async () => {
    expect(await escapesOf(() => readFile(fileURLToPath(import.meta.url)))).toEqual([`a file ${bypasses}`])
  })

  test('a connection', async () => {
    const found = await escapesOf(() => {
      const socket = connect({ port: 1, host: '127.0.0.1' })
      socket.on('error', () => undefined)
      return Promise.resolve()
    })
    expect(found).toContain(`a connection ${bypasses}`)
  })

  test('an imported timer', async () => {
    const { ['setTimeout']: later } = process.getBuiltinModule('timers/promises') as unknown as Record<
      string,
      (ms: number) => Promise<void>
    >
    expect(await escapesOf(() => later?.(1) ?? Promise.resolve())).toEqual([`a timer ${bypasses}`])
  })
})

test('the watchdog kills a process whose program blocks the event loop, and names the reconcile', async () => {
  const [runner = '', program = ''] = ['../../../../tools/run.mjs', './blocking.fixture.ts'].map((path) =>
    fileURLToPath(new URL(path, import.meta.url)),
  )
  const child = spawn(process.execPath, [runner, program], { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.on('data', (piece: Buffer) => {
    said += piece.toString()
  })
  await once(child, 'close')
  expect(said).toContain('the program has blocked the event loop for 0.5 s.')
  expect(said).toContain('last reconcile: box default/a; last event: A: boxes: ')
  expect(child.exitCode).not.toBe(0)
})

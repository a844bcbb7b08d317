/**
 * The same programs, explored under every single fault. Two are left out. The hybrid one fetches a page, and the Explorer
 * simulates only the client, the clock and the external services of a scenario. The leader-elected one assigns numbers in
 * order of arrival: the same desired state may correctly lead to different numbers.
 */
import { expect, test, vi } from 'vitest'
import type { KubeObject, RunOptions } from 'evenkeel'
import type { Client } from 'evenkeel/client'
import { explore, formatReport } from 'evenkeel/testing'
import type { Scenario } from 'evenkeel/testing'

const asked = vi.hoisted(() => [] as unknown[])
vi.mock('evenkeel', async (original) => ({
  ...(await original<object>()),
  run: (options: unknown) => {
    asked.push(options)
  },
}))
await import('./minimal.ts')
await import('./time-driven.ts')
await import('./one-shot.ts')
const [minimal, timeDriven, oneShot] = asked as [RunOptions, RunOptions, RunOptions]

const at = (name: string): { name: string; namespace: string } => ({ name, namespace: 'default' })
const kind = (name: string): { apiVersion: string; kind: string } => ({ apiVersion: 'demo.example.com/v1', kind: name })
const creates = (name: string, spec: object, as = 'a') => ({
  name: `creates ${name} ${as}`,
  run: (user: Client) => user.create({ ...kind(name), metadata: at(as), spec } as KubeObject),
})
const deletes = (name: string) => ({
  name: `deletes ${name} a`,
  run: async (user: Client) => user.delete(await user.get(kind(name), at('a'))),
})

async function expectSilence(program: RunOptions, scenario: Omit<Scenario, 'controllers'>): Promise<void> {
  const explored = await explore({ controllers: program.controllers, scenario })
  expect(explored.failures.length, formatReport(explored)).toBe(0)
  expect(explored.schedules).toBeGreaterThan(20)
}

test('minimal: the Explorer finds nothing', async () => {
  await expectSilence(minimal, { name: 'notes', steps: [creates('Note', { text: 'one two' }), deletes('Note')] })
}, 600_000)

test('time-driven: the Explorer finds nothing', async () => {
  await expectSilence(timeDriven, { name: 'passwords', steps: [creates('Password', {}), deletes('Password')] })
}, 600_000)

test('one-shot: the Explorer finds nothing', async () => {
  const objects = [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: at('shop'), data: { price: '5' } }]
  await expectSilence(oneShot, {
    name: 'migrations',
    objects,
    exceptions: [{ rule: 'cleanup', about: 'ConfigMap', because: 'a migration is not undone' }],
    steps: [creates('Migration', { database: 'shop' })],
  })
}, 600_000)

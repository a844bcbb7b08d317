import { expect, test } from 'vitest'
import { declareKind, type KubeObject } from '#api'
import { SeededRandom, type SimulatedClock } from '#base'
import type { ControllerDeclaration } from '#controller'
import { Manager } from '#manager'
import { liveRules } from './live-rules.ts'
import { planeFixture, type TestPlane } from './test-plane.ts'

interface Settings extends KubeObject {
  readonly data?: Readonly<Record<string, string>>
}

const ConfigMap = declareKind<Settings>({ group: '', version: 'v1', kind: 'ConfigMap', statusSubresource: false })

/** Uses a fixture as a test runner does. */
async function within(use: (plane: TestPlane) => Promise<void>): Promise<void> {
  await planeFixture({ simulated: true, builtin: false })({}, use)
}

test('liveRules reports each finding once and counts repetitions', async () => {
  await within(async (plane) => {
    const reported: string[] = []
    const rules = liveRules({
      onFinding: ({ rule, about }) => {
        reported.push(`${rule} ${about}`)
      },
    })
    const controller: ControllerDeclaration<typeof ConfigMap> = {
      for: ConfigMap,
      // The server has ConfigMaps of its own in kube-system.
      namespaces: ['default'],
      async reconcile(settings, { client }) {
        const {
          metadata: { resourceVersion: _, ...metadata },
        } = settings
        if (settings.data?.['seen'] !== 'yes')
          await client.update({ ...settings, metadata, data: { seen: 'yes' } } as unknown as typeof settings)
      },
    }
    const manager = new Manager({
      name: 'careless',
      transport: plane.plane.transport,
      clock: plane.clock,
      random: new SeededRandom('x'),
      leaderElection: false,
      rules,
      controllers: [controller as unknown as ControllerDeclaration],
    })
    const stopping = new AbortController()
    const running = manager.run(stopping.signal)
    for (const name of ['a', 'b']) await plane.client.create(ConfigMap, { metadata: { name } })
    await plane.until(async () => (await plane.client.get(ConfigMap, { name: 'b' })).data?.['seen'] === 'yes')
    expect(reported).toEqual(['conflict update configmaps', 'privilege update configmaps'])
    expect(rules.findings().map(({ rule, seen }) => `${rule} ${seen}`)).toEqual(['conflict 2', 'privilege 2'])
    stopping.abort()
    for (let turn = 0; turn < 50; turn++) await (plane.clock as SimulatedClock).advance(100)
    await running
  })
})

test('planeFixture gives a plane to a test and passes on the error of the test', async () => {
  const failing = within(async (plane) => {
    await plane.client.create(ConfigMap, { metadata: { name: 'a' } })
    expect((await plane.client.get(ConfigMap, { name: 'a' })).metadata.name).toBe('a')
    throw new Error('the test fails')
  })
  await expect(failing).rejects.toThrow('the test fails')
})

/**
 * User code receives platform signals: `fetch` and `AbortSignal.any` accept them.
 */
import { expect, test } from 'vitest'
import { SeededRandom, SimulatedClock } from '#base'
import { declareKind } from '#api'
import type { KubeObject } from '#api'
import { Client } from '#client'
import type { ControllerDeclaration, Source } from '#controller'
import { Manager } from '#manager'
import { startServer } from '#server'
import type { Transport } from '#wire'

const ConfigMap = declareKind<KubeObject>({ group: '', version: 'v1', kind: 'ConfigMap', statusSubresource: false })

test('user code receives the AbortSignal of the platform', async () => {
  const seen = new Map<string, boolean>()
  const see = (who: string, signal: AbortSignal | undefined): void => {
    seen.set(who, (seen.get(who) ?? true) && signal instanceof AbortSignal && !AbortSignal.any([signal]).aborted)
  }
  const clock = new SimulatedClock()
  const server = await startServer({
    clock,
    random: new SeededRandom('server'),
    bootstrap: false,
    admission: {
      hooks: [
        {
          name: 'spy',
          rules: [{ resources: ['configmaps'] }],
          validate: (_, { signal }) => {
            see('a hook', signal)
          },
        },
      ],
    },
  })
  const transport: Transport = (request) => {
    see(`a transport, of a ${request.target.includes('watch=') ? 'watch' : 'call'}`, request.signal)
    return server.transport({ ...request })
  }
  const source: Source = {
    name: 'spy',
    start: () => ({
      name: 'spy',
      hasSynced: true,
      problem: undefined,
      stop: () => Promise.resolve(),
      async waitForSync({ signal } = {}) {
        see('a source', signal)
      },
    }),
  }
  const controller: ControllerDeclaration<typeof ConfigMap> = {
    for: ConfigMap,
    sources: [source],
    async reconcile({ metadata: { name } }, { signal, client }) {
      see('a reconcile', signal)
      await client.get(ConfigMap, { name: name ?? '', namespace: 'default' }, { live: true, signal })
    },
  }
  const manager = new Manager({
    name: 'spy',
    transport,
    clock,
    random: new SeededRandom('manager'),
    controllers: [controller as unknown as ControllerDeclaration],
    leaderElection: false,
    runnables: [
      {
        name: 'leading',
        run: async (signal) => {
          see('a runnable', signal)
        },
      },
      {
        name: 'everywhere',
        needsLeader: false,
        run: async (signal) => {
          see('a runnable everywhere', signal)
        },
      },
    ],
  })
  const stopping = new AbortController()
  const running = manager.run(stopping.signal)
  const client = new Client({
    transport: server.transport,
    clock,
    random: new SeededRandom('client'),
    namespace: 'default',
  })
  await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } })
  await client.create(ConfigMap, { metadata: { name: 'a' } })
  await clock.advance(1000)
  stopping.abort()
  await clock.advance(1000)
  await running
  const over = server.stop()
  await clock.advance(1000)
  await over
  expect(Object.fromEntries(seen)).toEqual({
    'a hook': true,
    'a transport, of a call': true,
    'a transport, of a watch': true,
    'a source': true,
    'a reconcile': true,
    'a runnable': true,
    'a runnable everywhere': true,
  })
})

/**
 * Mistakes of programs: floating promises, state in modules, unexpected specs, watches, leases and clocks.
 */
import { formatTime, parseTime } from 'evenkeel/unstable/api'
import { channelSource } from 'evenkeel/controller'
import { ConfigMap } from 'evenkeel/kinds/core/v1'
import type { Client } from 'evenkeel/client'
import type { UserStep } from 'evenkeel/testing'
import type { Mutant } from '../mutant.ts'
import { App, appProgram, applyChildren, childOf, does, place, cleanApp } from '../worlds/app.ts'
import type { Making } from '../worlds/app.ts'
import { copyOf, Link, linkProgram, cleanLink, settingsOf } from '../worlds/linked.ts'

const clean = cleanApp
let runs = 0

const lease = { leaseMs: 15_000 }
const three = [1, 2, 3]
const ttlMs = 240_000
const timedSteps: readonly UserStep[] = [
  { name: 'creates App a', run: (user) => user.create(App, { metadata: place, spec: {} }) },
]

/** Several external calls in a row; `before` runs before each of them. */
function severalCalls(before: (signal: AbortSignal) => void): Making {
  return ({ external: { cloud } }) => ({
    for: App,
    async reconcile(app, { signal }) {
      for (const number of three) {
        before(signal)
        await cloud.ensure(`${app.metadata.name}-${number}`, app.metadata.uid)
      }
    },
    async cleanup(app, { signal }) {
      for (const number of three) {
        before(signal)
        await cloud.delete(`${app.metadata.name}-${number}`)
      }
    },
  })
}

/** A hand-written watch that ends with its connection. */
async function* changesOf(client: Client, signal: AbortSignal): AsyncGenerator<{ name: string; namespace: string }> {
  try {
    for await (const event of client.watch(ConfigMap, { namespace: 'default', signal }))
      if (event.type !== 'BOOKMARK') yield { name: 'l', namespace: 'default' }
  } catch {
    // The end is not reported.
  }
}

export const programMutants: readonly Mutant[] = [
  {
    id: 'm37',
    mistake: 'an enabled feature is never disabled',
    rules: ['state'],
    tier: 1,
    seenIn: 'Knative operator (Acto)',
    clean,
    broken: appProgram(
      () => ({
        for: App,
        async reconcile(app, { client }) {
          if (app.spec.text === undefined) return
          await client.apply(ConfigMap, { ...childOf(app, 0), data: {} }, { force: true })
        },
      }),
      { steps: timedSteps },
    ),
  },
  {
    id: 'm39',
    mistake: 'a spec that the schema allows breaks every reconcile',
    rules: ['failure'],
    tier: 1,
    seenIn: 'cockroach-operator (Acto), K8SPSMDB-434',
    clean,
    broken: appProgram(
      () => ({
        for: App,
        async reconcile(app, { client }) {
          const { metadata } = childOf(app, 0)
          await client.apply(
            ConfigMap,
            { metadata, data: { text: (app.spec as { text: string }).text.toUpperCase() } },
            { force: true },
          )
        },
      }),
      { steps: [does.create] },
    ),
  },
  {
    id: 'm43',
    mistake: 'a hand-written watch is not reopened after its connection broke',
    rules: ['resync'],
    tier: 1,
    seenIn: 'kubernetes-client/javascript #364, #596, #958',
    clean: cleanLink,
    broken: linkProgram(({ client: raw }) => ({
      for: Link,
      owns: [{ kind: ConfigMap, labelSelector: 'never=seen' }],
      sources: [channelSource({ name: 'settings', events: ({ signal }) => changesOf(raw, signal) })],
      async reconcile(link, { client, status }) {
        const found = await raw.find(ConfigMap, { name: link.spec.uses ?? 'none', namespace: 'default' })
        await client.apply(ConfigMap, copyOf(link, found?.data ?? {}), { force: true })
        status.set({ found: found !== undefined })
      },
    })),
  },
  {
    id: 'm45',
    mistake: 'continues to work after it lost the lease',
    rules: ['leader'],
    tier: 1,
    seenIn: 'cilium #42920, kubernetes #23731',
    clean: appProgram(
      severalCalls((signal) => {
        signal.throwIfAborted()
      }),
      { steps: [does.create], leaderElection: lease },
    ),
    broken: appProgram(
      severalCalls(() => undefined),
      { steps: [does.create], leaderElection: lease },
    ),
  },
  {
    id: 'm47',
    mistake: 'computes an age as local time minus a server timestamp',
    rules: ['clock'],
    tier: 1,
    clean: appProgram(
      () => ({
        for: App,
        async reconcile(app, { client, clock, status }) {
          const now = clock.now()
          const startedMs = app.status?.phase === undefined ? now : (parseTime(app.status.phase) ?? now)
          if (now - startedMs >= ttlMs) await client.delete(app, { preconditions: { uid: app.metadata.uid } })
          else status.set({ phase: formatTime(startedMs) })
          return { afterMs: Math.max(1000, startedMs + ttlMs - now) }
        },
        rbac: [{ apiGroups: ['mutants.dev'], resources: ['apps'], verbs: ['delete'] }],
      }),
      { steps: timedSteps },
    ),
    broken: appProgram(
      () => ({
        for: App,
        async reconcile(app, { client, clock }) {
          const leftMs = (parseTime(app.metadata.creationTimestamp) ?? 0) + ttlMs - clock.now()
          if (leftMs <= 0) await client.delete(app, { preconditions: { uid: app.metadata.uid } })
          return { afterMs: Math.max(1000, leftMs) }
        },
        rbac: [{ apiGroups: ['mutants.dev'], resources: ['apps'], verbs: ['delete'] }],
      }),
      { steps: timedSteps },
    ),
  },
  {
    id: 'm49',
    mistake: 'an await is missing: the write is sent after the reconcile has ended',
    rules: ['floating', 'failure'],
    tier: 1,
    clean,
    broken: appProgram(() => ({
      for: App,
      reconcile(app, context) {
        void Promise.resolve().then(() => applyChildren(app, context))
        return Promise.resolve()
      },
    })),
  },
  {
    id: 'x07',
    mistake: 'decides by a counter in a module variable',
    rules: ['stateless'],
    tier: 0,
    clean,
    broken: appProgram(() => ({
      for: App,
      async reconcile(app, context) {
        runs++
        await applyChildren({ ...app, spec: { ...app.spec, text: `run ${runs}` } }, context)
      },
    })),
  },
  {
    id: 'x08',
    mistake: 'a hand-written watch without a resync',
    rules: ['state', 'resync'],
    tier: 1,
    clean: cleanLink,
    broken: linkProgram(() => ({
      for: Link,
      owns: [ConfigMap],
      async reconcile(link, { client, status }) {
        if (link.status?.found === true) return
        const found = await settingsOf(link, { client })
        await client.apply(ConfigMap, copyOf(link, found?.data ?? {}), { force: true })
        status.set({ found: found !== undefined })
      },
    })),
  },
]

import { expect, test } from 'vitest'
import { z } from 'zod'
import { Client } from './client.ts'
import {
  ClusterManagers,
  defineController,
  Manager,
  type ElectionSettings,
  type EndpointSettings,
  type HealthCheck,
  type PolicyRule,
  type Runnable,
} from './controller.ts'
import { defineKind } from './index.ts'
import { startPlane } from './server.ts'

const Job = defineKind({
  group: 'demo.example.com',
  version: 'v1',
  kind: 'Job',
  spec: z.object({ size: z.number().int() }),
})

const key = { name: 'a', namespace: 'default' }
const job = { metadata: key, spec: { size: 1 } }

test('a manager elects a leader, reports its health and lists what it must be allowed to do', async () => {
  const plane = await startPlane({ kinds: [Job], controllers: false })
  const stopping = new AbortController()
  const states: string[] = []
  const leaderElection: ElectionSettings = {
    namespace: 'default',
    identity: 'replica-1',
    thread: false,
    onState: ({ state }) => states.push(state),
  }
  const disk: HealthCheck = { name: 'disk', failure: () => 'the disk is full' }
  let listening: (url: string) => void = () => undefined
  const url = new Promise<string>((resolve) => {
    listening = resolve
  })
  const endpoints: EndpointSettings = { port: 0, ready: [disk], onListening: (at) => listening(at) }
  let leading: () => void = () => undefined
  const led = new Promise<void>((resolve) => {
    leading = resolve
  })
  const warmUp: Runnable = {
    name: 'warm-up',
    run: (signal) =>
      new Promise((resolve) => {
        leading()
        signal.addEventListener('abort', () => resolve())
      }),
  }
  const secrets: PolicyRule = { apiGroups: [''], resources: ['secrets'], verbs: ['get'] }
  const jobs = defineController({ for: Job, rbac: [secrets], reconcile: () => undefined })
  const manager = new Manager({
    name: 'jobs',
    transport: plane.transport,
    controllers: [jobs],
    runnables: [warmUp],
    leaderElection,
    endpoints,
  })
  expect(manager.rbac().scopes.flatMap(({ rules }) => rules)).toContainEqual(secrets)
  const running = manager.run(stopping.signal)
  await led
  const ready = await fetch(`${await url}/readyz?verbose`)
  expect([ready.status, await ready.text()]).toEqual([500, expect.stringContaining('disk')])
  const client = new Client({ transport: plane.transport })
  const lease = await client.get({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' }, { ...key, name: 'jobs' })
  expect(lease).toMatchObject({ spec: { holderIdentity: 'replica-1' } })
  stopping.abort()
  await running
  expect(states).toContain('leading')
  await plane.stop()
})

test('ClusterManagers runs one program on several clusters', async () => {
  const planes = await Promise.all([1, 2].map(() => startPlane({ kinds: [Job], controllers: false })))
  const [east, west] = planes.map(({ transport }) => ({ transport }))
  const clusters: string[] = []
  const stopping = new AbortController()
  const program = new ClusterManagers({
    name: 'jobs',
    clusters: { ...(east && { east }), ...(west && { west }) },
    leaderElection: false,
  })
  program.addController(
    defineController({
      for: Job,
      reconcile(_, { key: at }) {
        clusters.push(at.cluster)
        if (clusters.length === 2) stopping.abort()
      },
    }),
  )
  await Promise.all([...program.managers.values()].map(({ client }) => client.create(Job, job)))
  await program.run(stopping.signal)
  expect(clusters.sort()).toEqual(['east', 'west'])
  await Promise.all(planes.map((plane) => plane.stop()))
})

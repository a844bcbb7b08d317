/** What has a Usage is not deleted by anybody, until the Usage is gone. */
import { expect, test } from 'vitest'
import { declareKind } from '#api'
import { SimulatedClock } from '#base'
import { Client } from '#client'
import { installKinds } from '#server'
import { ClusterUsage, Usage, usageLabel, usageLabelOf } from '#verbs'
import { startPlane } from './plane.ts'

const namespace = 'default'
const ConfigMap = declareKind({ group: '', version: 'v1', kind: 'ConfigMap', statusSubresource: false })
const of = (name: string): { group: string; kind: string; namespace: string; name: string } => ({
  group: '',
  kind: 'ConfigMap',
  namespace,
  name,
})
const by = { group: 'test.dev', kind: 'Robot', name: 'r2' }

function usage(name: string): Parameters<Client['create']>[1] {
  return {
    metadata: { name, namespace, labels: { [usageLabel]: usageLabelOf(of(name)) } },
    spec: { of: of(name), by, reason: 'it reads it' },
  } as never
}

async function withPlane(use: (client: Client, clock: SimulatedClock) => Promise<void>): Promise<void> {
  // Time stands still: nothing that is found out later would be found out at all.
  const clock = new SimulatedClock()
  const plane = await startPlane({ clock, controllers: false })
  const client = new Client({ transport: plane.transport, clock, retry: false })
  try {
    for (const name of ['a', 'b', 'c']) await client.create(ConfigMap, { metadata: { name, namespace } })
    await client.delete(await client.get(ConfigMap, { namespace, name: 'c' }))
    await installKinds(plane.transport, [Usage, ClusterUsage], { clock })
    await use(client, clock)
  } finally {
    await plane.stop()
  }
}

test('usageGuard refuses a deletion with who uses the object, and lets it pass when nobody does', async () => {
  await withPlane(async (client) => {
    const made = await client.create(Usage, usage('a') as never)
    await client.create(ClusterUsage, {
      ...(usage('a') as object),
      metadata: { name: 'everywhere', labels: { [usageLabel]: usageLabelOf(of('a')) } },
    } as never)
    const map = await client.get(ConfigMap, { namespace, name: 'a' })
    await expect(client.delete(map)).rejects.toMatchObject({
      reason: 'Forbidden',
      message: 'ConfigMap "a" is forbidden: it is in use by Robot r2 (it reads it), Robot r2 (it reads it)',
    })
    await expect(client.delete(map, { dryRun: true })).rejects.toMatchObject({ reason: 'Forbidden' })
    await client.delete(made)
    await expect(client.delete(map)).rejects.toMatchObject({ reason: 'Forbidden' })
    await client.delete(await client.get(ClusterUsage, { name: 'everywhere' }))
    await client.delete(map)
    expect(await client.find(ConfigMap, { namespace, name: 'a' })).toBeUndefined()
  })
})

test('usageGuard holds what is in use when everything of a kind is deleted, and nothing else', async () => {
  await withPlane(async (client) => {
    await client.create(Usage, usage('a') as never)
    await client.deleteAllOf(ConfigMap, { namespace }).catch(() => undefined)
    expect((await client.list(ConfigMap, { namespace })).items.map(({ metadata: { name } }) => name)).toEqual(['a'])
  })
})

/** Variables of Processes from Services, Secrets and ConfigMaps. */
import { ConfigMap, Secret } from 'evenkeel/kinds/core/v1'
import { describe, expect, test } from 'vitest'
import { conditionOf, isReady, phaseIs } from './plane.fixture.ts'
import { startServices, type ServicePlane } from './services/services.fixture.ts'

const command = ['serve']
const key = { name: 'settings', namespace: 'default' }

const environmentOf = async (world: ServicePlane, name: string) => {
  const { status } = await world.get(name)
  return world.host.launchOf(status?.run?.pid ?? 0)?.env ?? {}
}

describe('valueFrom', () => {
  test('service: the process waits until there is an address, not until there is an endpoint', async () => {
    const world = await startServices()
    const env = ['url', 'host', 'port', 'address'].map((field) => ({
      name: field,
      valueFrom: { service: { name: 'db', field } },
    }))
    await world.create('api', { command, env: [...env, { name: 'default', valueFrom: { service: { name: 'db' } } }] })
    const waiting = await world.until('api', phaseIs('Waiting'))
    expect(conditionOf(waiting, 'Ready')).toMatchObject({
      reason: 'NotFound',
      message: expect.stringContaining(
        'waits for Service db to have an address, which does not exist (spec.env[0].valueFrom)',
      ) as string,
    })
    expect(conditionOf(waiting, 'DependenciesReady')).toMatchObject({ status: 'False', reason: 'NotFound' })
    await world.createService('db', { appProtocol: 'postgres', port: 5432, address: '::1' })
    await world.until('api', isReady)
    expect(await environmentOf(world, 'api')).toMatchObject({
      url: 'postgres://[::1]:5432',
      host: '::1',
      port: '5432',
      address: '[::1]:5432',
      default: 'postgres://[::1]:5432',
    })
  })

  test('service: another address starts another run; a Service that is gone stops nothing', async () => {
    const world = await startServices()
    await world.createService('db', { port: 5432 })
    await world.create('api', { command, env: [{ name: 'DB', valueFrom: { service: { name: 'db' } } }] })
    await world.until('api', isReady)
    await world.patchService('db', { port: 5433 })
    const { status } = await world.until('api', (object) => isReady(object) && object.status?.run?.number === 2)
    expect(status?.run?.cause).toBe('spec.env.valueFrom changed')
    expect((await environmentOf(world, 'api'))['DB']).toBe('tcp://127.0.0.1:5433')
    await world.client.delete(await world.getService('db'))
    await world.plane.advance(5000)
    expect(await world.until('api', isReady)).toMatchObject({ status: { run: { number: 2 } } })
    await world.createService('db', { port: 5433 })
    await world.plane.advance(5000)
    expect((await world.get('api')).status?.run?.number).toBe(2)
  })

  test('W29, row 23: values of a Secret and a ConfigMap reach the process, and nothing else', async () => {
    const world = await startServices()
    await world.client.create(Secret, { metadata: key, stringData: { password: 'hunter2-säcret' } })
    await world.client.create(ConfigMap, { metadata: key, data: { mode: 'hunter2-mode' } })
    await world.create('api', {
      command,
      env: [
        { name: 'PASSWORD', valueFrom: { secret: { name: 'settings', key: 'password' } } },
        { name: 'MODE', valueFrom: { config: { name: 'settings', key: 'mode' } } },
      ],
    })
    const object = await world.until('api', isReady)
    expect(await environmentOf(world, 'api')).toMatchObject({ PASSWORD: 'hunter2-säcret', MODE: 'hunter2-mode' })
    expect(object.status?.run?.env).toEqual(['MODE', 'PASSWORD'])
    for (const seen of [object.status, await world.events('api'), world.files.contents])
      expect(JSON.stringify(seen)).not.toContain('hunter2')
    await world.client.patch(await world.client.get(ConfigMap, key), { data: { mode: 'other' } })
    await world.until('api', (one) => isReady(one) && one.status?.run?.number === 2)
    expect(await environmentOf(world, 'api')).toMatchObject({ PASSWORD: 'hunter2-säcret', MODE: 'other' })
  })

  test('a key that is missing is named, and the process starts when it is there', async () => {
    const world = await startServices()
    await world.client.create(Secret, { metadata: key, stringData: { other: 'x' } })
    await world.create('api', {
      command,
      env: [{ name: 'PASSWORD', valueFrom: { secret: { name: 'settings', key: 'password' } } }],
    })
    const waiting = await world.until('api', phaseIs('Waiting'))
    expect(conditionOf(waiting, 'Started')).toMatchObject({
      reason: 'KeyNotFound',
      message: 'Secret settings has no key "password": add it, or correct the key (spec.env[0].valueFrom)',
    })
    await world.client.patch(await world.client.get(Secret, key), { stringData: { password: 'there' } })
    await world.until('api', isReady)
    expect((await environmentOf(world, 'api'))['PASSWORD']).toBe('there')
  })
})

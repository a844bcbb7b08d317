import { expect, test } from 'vitest'
import { declareKind, type KubeObject } from '#api'
import type { ControllerDeclaration } from '#controller'
import { rootCertificateController, serviceAccountController } from './service-accounts.ts'
import { World } from './world.fixture.ts'

const Namespace = declareKind({ group: '', version: 'v1', kind: 'Namespace', scope: 'Cluster' })
const ServiceAccount = declareKind({ group: '', version: 'v1', kind: 'ServiceAccount', statusSubresource: false })
const ConfigMap = declareKind<KubeObject & { readonly data?: Readonly<Record<string, string>> }>({
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  statusSubresource: false,
})

interface AccountWorld extends AsyncDisposable {
  readonly world: World
}

async function accountWorld(controller: unknown): Promise<AccountWorld> {
  const world = await World.start()
  const running = world.run(world.manager({ controllers: [controller as ControllerDeclaration] }))
  return {
    world,
    async [Symbol.asyncDispose]() {
      await running.stop()
      await world.server.stop()
    },
  }
}

test('serviceAccountController gives every namespace its default account, those that are there and those that come', async () => {
  await using it = await accountWorld(serviceAccountController())
  const { world } = it
  const has = async (namespace: string): Promise<boolean> =>
    (await world.client.find(ServiceAccount, { name: 'default', namespace })) !== undefined
  await world.until(() => has('default'))
  await world.until(() => has('kube-system'))
  await world.client.create(Namespace, { metadata: { name: 'shop' } })
  await world.until(() => has('shop'))
})

test('serviceAccountController makes a deleted account again, and leaves a namespace alone that is going', async () => {
  await using it = await accountWorld(serviceAccountController())
  const { world } = it
  await world.client.create(Namespace, { metadata: { name: 'shop' } })
  const find = (): ReturnType<typeof world.client.find<typeof ServiceAccount>> =>
    world.client.find(ServiceAccount, { name: 'default', namespace: 'shop' })
  await world.until(async () => (await find()) !== undefined)
  const first = await find()
  await world.client.delete(first as KubeObject)
  await world.until(async () => (await find()) !== undefined)
  expect((await find())?.metadata.uid).not.toBe(first?.metadata.uid)
  await world.client.delete({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } })
  await world.client.delete((await find()) as KubeObject)
  await world.clock.advance(60_000)
  expect(await find()).toBeUndefined()
  expect(world.lines.filter(({ level }) => level === 'error')).toEqual([])
})

test('rootCertificateController publishes the authority everywhere and puts right what was changed', async () => {
  await using it = await accountWorld(rootCertificateController({ caPem: 'PEM' }))
  const { world } = it
  const key = { name: 'kube-root-ca.crt', namespace: 'default' }
  const data = async (): Promise<unknown> => (await world.client.find(ConfigMap, key))?.data
  const isRight = async (): Promise<boolean> => JSON.stringify(await data()) === '{"ca.crt":"PEM"}'
  await world.until(isRight)
  const reference = { apiVersion: 'v1', kind: 'ConfigMap', metadata: key }
  await world.client.patch(reference, {
    data: { 'ca.crt': 'other', more: 'x' },
    metadata: { annotations: { 'kubernetes.io/description': null, own: 'kept' } },
  })
  await world.until(isRight)
  expect((await world.client.get(ConfigMap, key)).metadata.annotations).toMatchObject({
    own: 'kept',
    'kubernetes.io/description': expect.any(String) as string,
  })
  await world.client.delete(reference)
  await world.until(isRight)
})

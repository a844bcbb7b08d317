import { afterEach, beforeEach, expect, test } from 'vitest'
import { TestApplication } from './dcp-server.fixture.ts'
import { Container, ContainerExec } from './kinds/container.ts'
import { Executable } from './kinds/executable.ts'
import { ContainerNetwork } from './kinds/network.ts'

let application: TestApplication
beforeEach(async () => {
  application = await TestApplication.start()
})
afterEach(() => application.stop())

const program = { spec: { executablePath: '/bin/app' } }

test('names come as they are, DELETE answers with the object, and the status of a new object is kept', async () => {
  const status = { executionID: '', state: 'Running', startupTimestamp: null }
  const app = await application.create('Executable', 'Catalog_HTTP', { ...program, status })
  expect(app).toMatchObject({ metadata: { name: 'Catalog_HTTP' }, status })
  const { text } = await application.client.raw({
    method: 'DELETE',
    path: '/apis/usvc-dev.developer.microsoft.com/v1/executables/Catalog_HTTP',
  })
  expect(JSON.parse(text())).toMatchObject({ kind: 'Executable', metadata: { name: 'Catalog_HTTP' } })
})

test('the cleanup deletes users before what they use, leaves what has an owner, and refuses new objects', async () => {
  const deleted: string[] = []
  const finalizers = ['test.dev/hold']
  await application.create('ContainerExec', 'a', {
    metadata: { name: 'a', finalizers },
    spec: { command: 'x', containerName: 'c' },
  })
  await application.create('Container', 'c', { spec: { image: 'i' } })
  await application.create('ContainerNetwork', 'n', { spec: {} })
  const owner = await application.create('Executable', 'app', program)
  const { apiVersion, kind } = owner
  const { name = '', uid = '' } = owner.metadata
  await application.create('Executable', 'replica', {
    ...program,
    metadata: { name: 'replica', ownerReferences: [{ apiVersion, kind, name, uid, controller: true }] },
  })
  const watches = [ContainerExec, Container, ContainerNetwork].map(async (one) => {
    for await (const event of application.client.watch(one)) {
      if (event.type !== 'DELETED') continue
      deleted.push(event.object.kind)
      return
    }
  })
  const change = application.client.raw({
    method: 'PATCH',
    path: '/admin/execution',
    headers: { 'content-type': 'application/merge-patch+json' },
    body: { status: 'CleaningResources' },
  })
  expect((await change).json()).toEqual({ status: 'CleaningResources', shutdownResourceCleanup: 'Full' })
  for await (const event of application.client.watch(ContainerExec)) {
    if (event.type !== 'MODIFIED' && event.type !== 'ADDED') continue
    if (event.object.metadata.deletionTimestamp === undefined) continue
    await expect(application.create('Executable', 'late', program)).rejects.toMatchObject({ code: 403 })
    expect((await application.client.list(Container)).items).toHaveLength(1)
    await application.client.patch(event.object, { metadata: { finalizers: null } })
    break
  }
  await application.server.cleanUp()
  await Promise.all(watches)
  expect(deleted).toEqual(['ContainerExec', 'Container', 'ContainerNetwork'])
  const left = (await application.client.list(Executable)).items
  expect(left.map(({ metadata }) => metadata.name)).toEqual(['replica'])
  const state = (await application.client.raw({ path: '/admin/execution' })).json()
  expect(state).toEqual({ status: 'CleanupComplete', shutdownResourceCleanup: 'Full' })
})

test('the host is asked to stop once, with the cleanup that was wanted', async () => {
  const send = (): Promise<unknown> =>
    application.client.raw({
      method: 'PATCH',
      path: '/admin/execution',
      headers: { 'content-type': 'application/merge-patch+json' },
      body: { status: 'Stopping', shutdownResourceCleanup: 'None' },
    })
  await send()
  await send()
  expect(application.stops).toEqual(['None'])
})
